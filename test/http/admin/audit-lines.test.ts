import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { AdminActions } from '../../../src/http/admin/actions.ts';
import { queuedJob } from '../../../src/http/api/operations.ts';
import type { AuditLine } from '../../../src/http/audit/audit.ts';
import { newKey } from '../../../src/http/keys/key-store.ts';
import { memoryAudit } from '../audit/memory-audit.ts';
import { actionsThatNote, appWith, BEARER, DIGEST, KEY } from './admin-example.ts';

const ACTOR = { by: 'token', id: null, client: null, requestId: null };
const JOB = { ...queuedJob, organization: 'acme-inc', fault: null };

function audited() {
  let active = 'v1';
  const steps: string[] = [];
  const swapTo = async (version: string) => {
    steps.push('acted');
    active = version;
    return { version, digest: DIGEST };
  };
  const actions: AdminActions = {
    ...actionsThatNote([], {
      activeVersion: () => active,
      activate: (version) =>
        version === 'gone'
          ? Promise.reject(new DocshelfError('version_not_found', 'Cannot find version "gone": it is not stored'))
          : swapTo(version),
      rollback: () => swapTo('v0'),
      remove: () => Promise.reject(new TypeError('a fault of ours in /secret')),
      preview: async (version) => ({ version, digest: DIGEST, link: 'http://a/?preview=secret', expiresAt: '' }),
      upload: async () => ({ ...(await swapTo('v2')), activated: true, unpacked: true }),
    }),
    reload: async () => ({ at: '', ok: false, error: 'Cannot use the config' }),
    jobs: {
      board: async () => ({ jobs: [], nextCursor: null, domains: [] }),
      get: async () => JOB,
      report: async () => ({ jobId: JOB.jobId, pages: 0, files: 0, bytes: 0, counts: {}, findings: [] }),
      start: async () => JOB,
      retry: async () => JOB,
      cancel: async () => JOB,
    },
  };
  const { lines, audit } = memoryAudit((step) => steps.push(step));
  const { app } = appWith({ actions, audit });
  const send = (call: string, body?: object | string): Promise<Response> => {
    const [method = '', path = ''] = call.split(' ');
    const headers = typeof body === 'object' ? { ...BEARER, 'Content-Type': 'application/json' } : BEARER;
    const text = typeof body === 'object' ? JSON.stringify(body) : body;
    return Promise.resolve(app.request(path, { method, headers, ...(text !== undefined && { body: text }) }));
  };
  return { send, lines, steps };
}

describe('audit line of an admin operation', () => {
  it.each<[action: string, call: string, line: Partial<AuditLine>, body?: object | string]>([
    ['activate', 'POST /v1/versions/v2/activate', { site: 'acme', target: 'v2', from: 'v1', to: 'v2' }],
    ['rollback', 'POST /v1/rollback', { site: 'acme', target: null, from: 'v1', to: 'v0' }],
    ['preview', 'POST /v1/versions/v3/preview', { site: 'acme', target: 'v3', from: null, to: null }],
    [
      'upload',
      'PUT /v1/bundles/a.zip',
      { target: 'a.zip', from: 'v1', to: 'v2', result: 'ok', error: null },
      'the bytes',
    ],
    ['reload', 'POST /v1/reload', { site: null, result: 'config_invalid', error: 'Cannot use the config' }],
    [
      'key-create',
      'POST /v1/keys',
      { organization: 'acme', target: 'ci', from: null, to: KEY.id },
      { organization: 'acme', type: 'admin', name: 'ci' },
    ],
    ['key-revoke', `DELETE /v1/keys/${KEY.id}`, { organization: 'acme', target: 'ci', from: KEY.id, to: null }],
    [
      'export-start',
      'POST /v1/jobs',
      { site: 'acme', organization: 'acme-inc', target: JOB.jobId },
      { domain: 'acme.test' },
    ],
    ['export-start', 'POST /v1/jobs/se_0/retry', { from: 'se_0', target: JOB.jobId }],
    ['export-cancel', `DELETE /v1/jobs/${JOB.jobId}`, { site: 'acme', target: JOB.jobId, result: 'ok' }],
  ])('states actor and target of %s (%s), without secrets', async (action, call, line, body) => {
    const { send, lines } = audited();
    await send(call, body);
    expect(lines).toEqual([expect.objectContaining({ ...ACTOR, action, ...line })]);
    expect(new Date(lines[0]?.at ?? '').toISOString()).toBe(lines[0]?.at);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('contains code and message if the action fails', async () => {
    const { send, lines } = audited();
    expect((await send('POST /v1/versions/gone/activate')).status).toBe(404);
    expect(lines).toMatchObject([
      { action: 'activate', from: 'v1', to: null, result: 'version_not_found', error: expect.stringContaining('gone') },
    ]);
  });

  it('omits the message of an unexpected error', async () => {
    const { send, lines } = audited();
    expect((await send('DELETE /v1/versions/v1')).status).toBe(500);
    expect(lines).toMatchObject([{ action: 'remove', target: 'v1', result: 'internal', error: null }]);
  });

  it('omits a key secret that a caller sent instead of the key id', async () => {
    const { send, lines } = audited();
    await send(`DELETE /v1/keys/${newKey('admin').key}`);
    expect(lines).toMatchObject([{ action: 'key-revoke', from: null }]);
  });

  it('is written to the log, then stored, before docshelf responds', async () => {
    const { send, steps } = audited();
    await send('POST /v1/versions/v2/activate');
    expect(steps).toEqual(['acted', 'logged', 'stored']);
  });

  it('is not written for read access', async () => {
    const { send, lines } = audited();
    for (const path of ['/v1/keys', '/v1/jobs', `/v1/jobs/${JOB.jobId}/report`])
      expect((await send(`GET ${path}`)).status).toBe(200);
    expect(lines).toEqual([]);
  });
});
