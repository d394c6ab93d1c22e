import { beforeEach, describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { AdminActions, SiteActions } from '../../../src/http/admin/actions.ts';
import { queuedJob } from '../../../src/http/api/operations.ts';
import type { Actor, AuditLine } from '../../../src/http/audit/audit.ts';
import { auditedActions } from '../../../src/http/audit/audited-actions.ts';
import { newKey } from '../../../src/http/keys/key-store.ts';
import { KEY } from '../admin/admin-example.ts';
import { memoryAudit } from './memory-audit.ts';

const ACTOR: Actor = { by: 'session', id: 's-1', client: '10.1.2.3', requestId: 'r-1' };
const DIGEST = 'd'.repeat(64);
const JOB = { ...queuedJob, organization: 'acme-inc', fault: null };

describe('auditedActions()', () => {
  let active: string | null;
  let lines: readonly AuditLine[];
  let steps: string[];
  let actions: AdminActions;

  beforeEach(() => {
    active = 'v1';
    steps = [];
    const swapTo = async (version: string) => {
      steps.push('acted');
      active = version;
      return { version, digest: DIGEST };
    };
    const site: SiteActions = {
      onBundleRefused: () => undefined,
      activate: (version) =>
        version === 'gone'
          ? Promise.reject(new DocshelfError('version_not_found', 'Cannot find version "gone": it is not stored'))
          : swapTo(version),
      rollback: () => swapTo('v0'),
      remove: () => Promise.reject(new TypeError('a fault of ours in /secret')),
      diff: () => Promise.reject(new Error('not asked')),
      preview: async (version) => ({ version, digest: DIGEST, link: 'http://a/?preview=secret', expiresAt: '' }),
      activateStored: async () => false,
      upload: async () => ({ ...(await swapTo('v2')), activated: true, unpacked: true }),
    };
    const bare: AdminActions = {
      reload: async () => ({ at: '', ok: false, error: 'Cannot use the config' }),
      site: () => site,
      keys: {
        list: async () => [KEY],
        create: async () => ({ ...KEY, key: 'svc_secret' }),
        revoke: async () => KEY,
      },
      jobs: {
        board: async () => ({ jobs: [], nextCursor: null, domains: [] }),
        get: async () => JOB,
        report: async () => ({ jobId: JOB.jobId, pages: 0, files: 0, bytes: 0, counts: {}, findings: [] }),
        start: async () => JOB,
        retry: async () => JOB,
        cancel: async () => JOB,
      },
    };
    const memory = memoryAudit((step) => steps.push(step));
    lines = memory.lines;
    actions = auditedActions(bare, () => ({ domain: 'acme', active: () => active }), memory.audit, ACTOR);
  });

  const site = () => actions.site('acme');
  it.each<[what: string, act: () => Promise<unknown>, line: Partial<AuditLine>]>([
    ['activate', () => site().activate('v2'), { site: 'acme', target: 'v2', from: 'v1', to: 'v2' }],
    ['rollback', () => site().rollback(), { site: 'acme', target: null, from: 'v1', to: 'v0' }],
    ['preview', () => site().preview('v3'), { site: 'acme', target: 'v3', from: null, to: null }],
    [
      'take-up',
      () => site().activateStored({ version: 'v3', digest: DIGEST }, false),
      { target: 'v3', from: 'v1', to: 'v1' },
    ],
    [
      'upload',
      () => site().upload('a.zip', new ReadableStream(), {} as never),
      { target: 'a.zip', from: 'v1', to: 'v2', result: 'ok', error: null },
    ],
    ['reload', () => actions.reload(), { site: null, result: 'config_invalid', error: 'Cannot use the config' }],
    [
      'key-create',
      () => actions.keys.create({ organization: 'acme', type: 'admin', name: 'ci' }),
      { organization: 'acme', target: 'ci', from: null, to: KEY.id },
    ],
    ['key-revoke', () => actions.keys.revoke(KEY.id), { organization: 'acme', target: 'ci', from: KEY.id, to: null }],
    [
      'export-start',
      () => actions.jobs.start({ domain: 'acme.test' }),
      { site: 'acme', organization: 'acme-inc', target: JOB.jobId },
    ],
    ['export-start', () => actions.jobs.retry('se_0'), { from: 'se_0', target: JOB.jobId }],
    ['export-cancel', () => actions.jobs.cancel(JOB.jobId), { site: 'acme', target: JOB.jobId, result: 'ok' }],
  ])('writes a line for %s with actor and target, without secrets', async (action, act, line) => {
    await act();
    expect(lines).toEqual([expect.objectContaining({ ...ACTOR, action, ...line })]);
    expect(new Date(lines[0]?.at ?? '').toISOString()).toBe(lines[0]?.at);
    expect(JSON.stringify(lines)).not.toContain('secret');
  });

  it('writes a line with code and message for a failed action, and throws the error again', async () => {
    await expect(site().activate('gone')).rejects.toMatchObject({ code: 'version_not_found' });
    expect(lines).toMatchObject([
      { action: 'activate', from: 'v1', to: null, result: 'version_not_found', error: expect.stringContaining('gone') },
    ]);
  });

  it('writes a line without the message of an unexpected error', async () => {
    await expect(site().remove('v1')).rejects.toThrow(TypeError);
    expect(lines).toMatchObject([{ action: 'remove', target: 'v1', result: 'internal', error: null }]);
  });

  it('does not write a key secret that a caller passed instead of the key id', async () => {
    const { key } = newKey('admin');
    await actions.keys.revoke(key);
    expect(lines).toMatchObject([{ action: 'key-revoke', from: null }]);
  });

  it('writes to the log first, and resolves after the audit line is stored', async () => {
    await site().activate('v2');
    expect(steps).toEqual(['acted', 'logged', 'stored']);
  });

  it('writes no line for read access', async () => {
    await actions.keys.list(null);
    await actions.jobs.board(null);
    await actions.jobs.report(JOB.jobId);
    expect(lines).toEqual([]);
  });
});
