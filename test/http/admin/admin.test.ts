import { describe, expect, it, vi } from 'vitest';
import { DocshelfError, toDocshelfError } from '../../../src/domain/errors.ts';
import { Secret } from '../../../src/domain/secret.ts';
import type { SiteActions, UploadOptions } from '../../../src/http/admin/actions.ts';
import type { createAdminApp } from '../../../src/http/admin/app.ts';
import { AuditTrail } from '../../../src/http/audit/audit.ts';
import { Metrics } from '../../../src/http/metrics/metrics.ts';
import { listenerBench } from '../listener/listener-bench.ts';
import { outcomeOf } from '../problem-code.ts';
import { STATUS } from '../status-example.ts';
import { actionsThatNote, appWith, BEARER, DIGEST, FEATURES, READINGS, TOKEN } from './admin-example.ts';

const ACTIONS: [method: string, path: string][] = [
  ['POST', '/v1/reload'],
  ['POST', '/v1/versions/v1/activate'],
  ['POST', '/v1/rollback'],
  ['POST', '/v1/versions/v1/preview'],
  ['DELETE', '/v1/versions/v1'],
  ['PUT', '/v1/bundles/site.zip'],
  ['PUT', '/v1/bundles/site.zip.minisig'],
  ['GET', '/v1/diff?from=v1&to=v2'],
  ['GET', '/v1/keys'],
  ['GET', '/v1/audit'],
  ['POST', '/v1/keys'],
  ['DELETE', '/v1/keys/key_1'],
];

describe('admin socket of a daemon', () => {
  const named = (folder: string) => ({ method: 'POST', headers: { 'docshelf-folder': folder } });

  it('rejects a request that names a data folder which is not the folder of the daemon', async () => {
    const { app, calls } = appWith({ endpoint: 'socket', folder: async () => 'id:1:2' });
    const refused = await app.request('/v1/rollback', named('id:1:3'));
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ code: 'daemon_unreachable' }),
    ]);
    const gone = appWith({ endpoint: 'socket', folder: async () => null });
    expect((await gone.app.request('/v1/rollback', named('id:1:2'))).status).toBe(503);
    expect([calls, gone.calls]).toEqual([[], []]);
    expect((await app.request('/v1/rollback', named('id:1:2'))).status).toBe(200);
    expect((await app.request('/v1/rollback', { method: 'POST' })).status).toBe(200);
  });

  it('is the only endpoint that returns the config', async () => {
    const lastGood = () => new Secret('admin: { token: canary }');
    const { app } = appWith({ endpoint: 'socket', lastGood });
    expect(await (await app.request('/v1/config')).json()).toEqual({ text: 'admin: { token: canary }' });
    for (const door of ['token', 'session'] as const) {
      const answer = await appWith({ endpoint: door, lastGood }).app.request('/v1/config', { headers: BEARER });
      expect([answer.status, await answer.text()]).toEqual([404, expect.not.stringContaining('canary')]);
    }
  });
});

describe('admin listener, reading', () => {
  it('serves the health probes without a token', async () => {
    const { app } = appWith({ readiness: () => ({ ready: false, reason: 'no version is active' }) });
    expect(await (await app.request('/livez')).text()).toBe('ok');
    const readyz = await app.request('/readyz');
    expect(readyz.status).toBe(503);
    expect(await readyz.json()).toEqual({ ready: false, reason: 'no version is active' });
    expect((await appWith().app.request('/readyz')).status).toBe(200);
  });

  it('returns the status and the features that the daemon supplies', async () => {
    const { app } = appWith();
    expect(await (await app.request('/v1/status')).json()).toEqual(STATUS);
    expect(await (await app.request('/v1/features')).json()).toEqual(FEATURES);
  });

  it('serves the current metrics even if the storage fails', async () => {
    const { app } = appWith({
      readings: async () => ({ ...READINGS, states: [{ site: null, state: 'stale' }] }),
      status: () => Promise.reject(new Error('storage is gone')),
    });
    const answer = await app.request('/metrics');
    expect(answer.headers.get('content-type')).toContain('text/plain; version=0.0.4');
    expect(await answer.text()).toContain('docshelf_state{state="stale"} 1');
  });

  it('responds to HEAD like GET, without a body', async () => {
    const answer = await appWith().app.request('/v1/status', { method: 'HEAD' });
    expect(answer.status).toBe(200);
    expect(await answer.text()).toBe('');
  });

  it('responds to an unknown path with a problem document', async () => {
    expect(await outcomeOf(appWith().app.request('/v2/nothing'))).toEqual([404, 'not_found']);
  });

  it.each([
    ['POST', '/v1/status', 'GET, HEAD'],
    ['GET', '/v1/reload', 'POST'],
    ['POST', '/v1/versions/v1', 'DELETE'],
    ['POST', '/v1/bundles/a.zip', 'PUT'],
    ['OPTIONS', '/', 'GET, HEAD'],
  ])('responds to %s %s with 405 and the allowed methods', async (method, path, allow) => {
    const answer = await appWith().app.request(path, { method });
    expect(answer.status).toBe(405);
    expect(answer.headers.get('allow')).toBe(allow);
    expect(await answer.json()).toMatchObject({ code: 'method_not_allowed' });
  });

  it('writes the message of an unexpected error only to the log', async () => {
    const { app, faults } = appWith({ status: () => Promise.reject(new Error('secret-path')) });
    const answer = await app.request('/v1/status');
    expect(answer.status).toBe(500);
    expect(await answer.text()).not.toContain('secret-path');
    expect(faults.map((fault) => fault.message)).toEqual(['secret-path']);
  });
});

describe('admin listener, actions', () => {
  it.each(ACTIONS)('rejects the request %s %s if no token is configured', async (method, path) => {
    const { app, calls } = appWith({ token: () => null });
    const answer = await app.request(path, { method, headers: BEARER });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ code: 'forbidden', next: expect.any(String) });
    expect(calls).toEqual([]);
  });

  it.each(ACTIONS)('rejects the request %s %s without the correct token', async (method, path) => {
    const { app, calls } = appWith();
    for (const authorization of [
      undefined,
      '',
      TOKEN,
      `Basic ${TOKEN}`,
      'Bearer',
      'Bearer wrong',
      `Bearer ${TOKEN} x`,
    ]) {
      const headers = authorization === undefined ? {} : { Authorization: authorization };
      const answer = await app.request(path, { method, headers });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    }
    expect(calls).toEqual([]);
  });

  it.each([
    ['POST', '/v1/reload', 200, ['reload']],
    ['POST', '/v1/versions/v1/activate', 200, ['activate', 'v1']],
    ['POST', '/v1/versions/v1%2B2/activate', 200, ['activate', 'v1+2']],
    ['POST', '/v1/versions/v1/preview', 200, ['preview', 'v1']],
    ['GET', '/v1/diff?from=v1&to=v2', 200, ['diff', 'v1', 'v2']],
    ['POST', '/v1/rollback', 200, ['rollback']],
    ['DELETE', '/v1/versions/2024-06-01', 204, ['remove', '2024-06-01']],
    ['GET', '/v1/keys', 200, ['listKeys', null]],
    ['GET', '/v1/keys?organization=acme', 200, ['listKeys', 'acme']],
    ['DELETE', '/v1/keys/key_1', 204, ['revokeKey', 'key_1']],
  ])(
    'runs the action for the request %s %s, and passes the parameters of the request',
    async (method, path, status, call) => {
      const { app, calls, lines } = appWith();
      const answer = await app.request(path, { method, headers: BEARER });
      expect(answer.status).toBe(status);
      expect(calls).toEqual([call]);
      const actor = { by: 'token', id: null, client: null, requestId: null };
      expect(lines).toMatchObject(method === 'GET' ? [] : [actor]);
    },
  );

  const postKey = (app: ReturnType<typeof createAdminApp>, body: unknown) =>
    app.request('/v1/keys', {
      method: 'POST',
      headers: { ...BEARER, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });

  it('creates a key, and forbids caches to store the response', async () => {
    const { app, calls } = appWith();
    const answer = await postKey(app, { organization: 'acme', type: 'admin', name: '  ci ' });
    expect(answer.status).toBe(201);
    expect(answer.headers.get('cache-control')).toBe('no-store');
    expect(await answer.json()).toMatchObject({ key: 'svc_secret', name: 'ci', readOnly: false });
    expect(calls).toEqual([['createKey', { organization: 'acme', type: 'admin', name: 'ci' }]]);
  });

  it.each<[field: string, change: object]>([
    ['organization', { organization: undefined }],
    ['organization', { organization: 7 }],
    ['type', { type: 'owner' }],
    ['type', { type: undefined }],
    ['name', { name: '   ' }],
    ['name', { name: 'n'.repeat(129) }],
    ['name', { name: 'two\nlines' }],
    ['name', { name: 'left\u202eright' }],
    ['expiresAt', { expiresAt: 'tomorrow' }],
    ['expiresAt', { expiresAt: '2027-01-01T00:00:00' }],
    ['expiresAt', { expiresAt: 1 }],
    ['sha256', { sha256: DIGEST }],
  ])('rejects a new key whose field %s is invalid: %j', async (field, change) => {
    const { app, calls } = appWith();
    const answer = await postKey(app, { organization: 'acme', type: 'admin', name: 'ci', ...change });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ code: 'bad_request', error: expect.stringContaining(`"${field}"`) });
    expect(calls).toEqual([]);
  });

  it('returns the audit lines page by page', async () => {
    const queries: unknown[] = [];
    const read = async (...query: unknown[]) => {
      queries.push(query);
      return { lines: [], before: null };
    };
    const { app } = appWith({ audit: new AuditTrail({ append: async () => undefined, read }, () => undefined) });
    const send = (query: string) => app.request(`/v1/audit${query}`, { headers: BEARER });
    expect(await (await send('')).json()).toEqual({ lines: [], before: null });
    expect((await send('?limit=7&before=2026-11-23T10:00:00.000Z')).status).toBe(200);
    expect(queries).toEqual([
      [100, null],
      [7, '2026-11-23T10:00:00.000Z'],
    ]);
    for (const query of ['?limit=0', '?limit=1001', '?before=now', '?site=acme'])
      expect((await send(query)).status).toBe(400);
  });

  it('responds to a rejected config with a problem document that lists the errors', async () => {
    const error = 'Cannot use the config "config.yaml": config.yaml:3:1: unknown key "servr"';
    const { app } = appWith({
      actions: { ...actionsThatNote([]), reload: async () => ({ at: STATUS.startedAt, ok: false, error }) },
    });
    const answer = await app.request('/v1/reload', { method: 'POST', headers: BEARER });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: 'config_invalid', error });
  });

  it('responds to a failed action with the error code of the action', async () => {
    const rollback = () => Promise.reject(new DocshelfError('pinned', 'Cannot roll back: pinned'));
    const { app, faults } = appWith({ actions: actionsThatNote([], { rollback }) });
    expect(await outcomeOf(app.request('/v1/rollback', { method: 'POST', headers: BEARER }))).toEqual([409, 'pinned']);
    expect(faults).toEqual([]);
  });

  it('passes an upload with its name and options to the action', async () => {
    const { app, calls } = appWith();
    const answer = await app.request('/v1/bundles/acme-export-2024-06-01.tar.gz?version=v9&activate=false', {
      method: 'PUT',
      headers: { ...BEARER, 'Content-Length': '5' },
      body: 'bytes',
    });
    expect(answer.status).toBe(201);
    expect(await answer.json()).toEqual({ version: 'v9', digest: DIGEST, activated: true, unpacked: true });
    const options = { version: 'v9', activate: false, signature: null, source: 'upload' };
    expect(calls).toEqual([['upload', 'acme-export-2024-06-01.tar.gz', 'bytes', options]]);
  });

  it.each([
    ['PUT', '/v1/bundles/..%2Fevil.zip'],
    ['PUT', '/v1/bundles/a%5Cb.zip'],
    ['PUT', '/v1/bundles/a%00b.zip'],
    ['PUT', '/v1/bundles/a%C2%85b.zip'],
    ['PUT', '/v1/bundles/a%E2%80%AEgz.zip'],
    ['PUT', '/v1/bundles/a%E2%80%A8b.zip'],
    ['PUT', '/v1/bundles/a%E2%81%A6b.zip.minisig'],
    ['PUT', '/v1/bundles/.minisig'],
    ['PUT', `/v1/bundles/${'a'.repeat(256)}`],
    ['PUT', '/v1/bundles/a.zip?version=no%20label'],
    ['PUT', '/v1/bundles/a.zip?activate=maybe'],
    ['PUT', '/v1/bundles/a.zip?activate=true&activate=false'],
    ['PUT', '/v1/bundles/a.zip?versoin=v1'],
    ['POST', '/v1/versions/-x/activate'],
    ['DELETE', '/v1/versions/a%2Fb'],
  ])('rejects the request %s %s with bad_request, because its path or query is invalid', async (method, path) => {
    const { app, calls } = appWith();
    const body = method === 'PUT' ? { body: 'bytes' } : {};
    expect(await outcomeOf(app.request(path, { method, headers: BEARER, ...body }))).toEqual([400, 'bad_request']);
    expect(calls).toEqual([]);
  });

  it('uses an uploaded signature for the next upload of its archive, but not for later uploads', async () => {
    const { app, calls } = appWith();
    const put = (path: string, body: string) => app.request(path, { method: 'PUT', headers: BEARER, body });
    expect((await put('/v1/bundles/a.zip.minisig', 'signature')).status).toBe(204);
    expect((await put('/v1/bundles/a.zip', 'bytes')).status).toBe(201);
    expect((await put('/v1/bundles/a.zip', 'bytes')).status).toBe(201);
    expect(calls).toMatchObject([
      ['upload', 'a.zip', 'bytes', { signature: 'signature' }],
      ['upload', 'a.zip', 'bytes', { signature: null }],
    ]);
    const large = await put('/v1/bundles/a.zip.minisig', 'x'.repeat(20_001));
    expect(large.status).toBe(413);
    expect((await put('/v1/bundles/a%2Fb.minisig', 'signature')).status).toBe(400);
  });

  it('keeps an uploaded signature for ten minutes, and only the 100 newest signatures', async () => {
    const now = vi.spyOn(performance, 'now').mockReturnValue(1);
    const { app, calls } = appWith();
    const put = (name: string) => app.request(`/v1/bundles/${name}`, { method: 'PUT', headers: BEARER, body: name });
    const kept = async (name: string) => {
      await put(name);
      return calls.at(-1)?.[3];
    };
    for (let each = 0; each <= 100; each += 1) await put(`${each}.zip.minisig`);
    expect(await kept('0.zip')).toMatchObject({ signature: null });
    now.mockReturnValue(600_000);
    expect(await kept('1.zip')).toMatchObject({ signature: '1.zip.minisig' });
    now.mockReturnValue(600_002);
    expect(await kept('100.zip')).toMatchObject({ signature: null });
    now.mockRestore();
  });

  it.each(ACTIONS.filter(([, path]) => !/^\/v1\/(?:reload|keys|audit)/.test(path)))(
    'runs an action for the site that the path names: %s %s',
    async (method, path) => {
      const { app, calls } = appWith();
      const body = method === 'PUT' ? 'untrusted comment: x' : undefined;
      const init = { method, headers: BEARER, ...(body === undefined ? {} : { body }) };
      const answer = await app.request(path.replace('/v1', '/v1/sites/acme'), init);
      expect([answer.ok, calls[0]]).toEqual([true, ['site', 'acme']]);
      const unsigned = await app.request(path.replace('/v1', '/v1/sites/acme'), { method });
      expect(unsigned.status).toBe(401);
    },
  );

  it('requires no token over the admin socket, and marks uploads over this socket as imports', async () => {
    const { app, calls, lines } = appWith({ endpoint: 'socket', token: () => null });
    expect((await app.request('/v1/rollback', { method: 'POST' })).status).toBe(200);
    expect((await app.request('/v1/bundles/a.zip', { method: 'PUT', body: 'bytes' })).status).toBe(201);
    expect(calls).toMatchObject([['rollback'], ['upload', 'a.zip', 'bytes', { source: 'import' }]]);
    expect(lines.map(({ by }) => by)).toEqual(['socket', 'socket']);
  });

  it('counts rejected uploads in the metrics', async () => {
    const metrics = new Metrics();
    const upload = () => Promise.reject(new DocshelfError('type_symlink', 'Cannot unpack'));
    const onBundleRefused: SiteActions['onBundleRefused'] = (source) => metrics.forSite(null).onBundleRefused(source);
    const { app } = appWith({ metrics, actions: actionsThatNote([], { upload, onBundleRefused }) });
    const answer = await app.request('/v1/bundles/a.zip', { method: 'PUT', headers: BEARER, body: 'x' });
    expect(answer.status).toBe(422);
    expect(await metrics.expose({ ...READINGS, states: [] })).toContain(
      'docshelf_bundles_taken_in_total{source="upload",result="refused"} 1',
    );
  });
});

describe('upload that the client aborts', () => {
  it('gets status 400, and makes the upload action fail with bad_request', async () => {
    const lines: unknown[] = [];
    const upload: SiteActions['upload'] = async (_, body) => {
      try {
        for await (const _chunk of body);
      } catch (error) {
        lines.push(toDocshelfError(error).code);
        throw error;
      }
      throw new Error('it was read whole');
    };
    const { app } = appWith({ actions: actionsThatNote([], { upload }) });
    const body = new ReadableStream({ start: (controller) => controller.error(new Error('aborted')) });
    const init = { method: 'PUT', headers: BEARER, body, duplex: 'half' } as RequestInit;
    expect((await app.request('/v1/bundles/a.zip', init)).status).toBe(400);
    expect(lines).toEqual(['bad_request']);
  });
});

describe('PUT /v1/bundles/{name} on a real connection', () => {
  const { open, connectTo } = listenerBench({ name: 'admin' });
  const connect = async ({ fetch }: ReturnType<typeof createAdminApp>) => connectTo(await open({ fetch }));
  const put = (headers: string) => `PUT /v1/bundles/a.zip HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n\r\n`;

  it('is rejected before the upload body is read, and the response contains the request id', async () => {
    const { app } = appWith();
    const connection = await connect(app);
    connection.write(put('X-Request-Id: r-7\r\nContent-Length: 1000000\r\nExpect: 100-continue'));
    const answer = await connection.until(/\}\n$/);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
    expect(answer).toContain('"requestId":"r-7"');
  });

  it('sends 100 Continue after docshelf has accepted the token, and imports the upload body', async () => {
    const { app, calls } = appWith();
    const connection = await connect(app);
    connection.write(put(`Authorization: Bearer ${TOKEN}\r\nContent-Length: 5\r\nExpect: 100-continue`));
    await connection.until(/^HTTP\/1\.1 100 Continue\r\n\r\n$/);
    connection.write('bytes');
    expect(await connection.until(/"unpacked":true/)).toMatch(/HTTP\/1\.1 201 /);
    expect(calls[0]?.slice(0, 3)).toEqual(['upload', 'a.zip', 'bytes']);
  });

  it('is aborted when the client disconnects, without an error in the log', async () => {
    const [begun, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const upload = (_: string, body: ReadableStream<Uint8Array>, { signal }: UploadOptions) => {
      begun.resolve();
      signal.addEventListener('abort', () => aborted.resolve());
      return new Response(body).text().then(() => Promise.reject(new Error('the body came whole')));
    };
    const metrics = new Metrics();
    const { app, faults } = appWith({ metrics, actions: actionsThatNote([], { upload }) });
    const connection = await connect(app);
    connection.write(`${put(`Authorization: Bearer ${TOKEN}\r\nContent-Length: 1000`)}some`);
    await begun.promise;
    connection.socket.destroy();
    await aborted.promise;
    const text = () => metrics.expose({ ...READINGS, states: [] });
    await expect.poll(text).toContain('docshelf_errors_total{code="bad_request"} 1');
    expect(faults).toEqual([]);
  });
});
