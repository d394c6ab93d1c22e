import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { ExportReport, Job } from '../../../src/domain/job.ts';
import { type AuditLine, AuditTrail } from '../../../src/http/audit/audit.ts';
import { codeOf, outcomeOf } from '../problem-code.ts';
import { ADMIN_KEY, apiWith, GLOBEX_ADMIN_KEY, post } from './api-example.ts';
import { exportsInMemory, PICTURE } from './exports-in-memory.ts';

const JOBS = '/v1/static-export/jobs';
const AUTHORIZATION = { Authorization: `Bearer ${ADMIN_KEY}` };
const UNKNOWN = 'se_0000000000000000';

const start = (body: unknown, headers: Record<string, string> = {}) => post(body, { ...AUTHORIZATION, ...headers });
const send = (method = 'GET'): RequestInit => ({ method, headers: AUTHORIZATION });

async function withJob(body: object = { domain: 'acme' }) {
  const api = apiWith();
  const job = (await (await api.app.request(JOBS, start(body))).json()) as Job;
  return { ...api, job, path: `${JOBS}/${job.jobId}` };
}

describe('POST /jobs', () => {
  it('responds with 202, the job, its address and a retry time', async () => {
    const response = await apiWith().app.request(JOBS, start({ domain: 'acme', version: '2024-06-01' }));
    expect([response.status, response.headers.get('content-type')]).toEqual([202, 'application/json']);
    const job = (await response.json()) as Job;
    expect(job).toEqual({
      jobId: expect.stringMatching(/^se_[0-9a-f]{16}$/),
      ...{ domain: 'acme', version: '2024-06-01', status: 'queued', progress: 0, pageCount: 0, error: null },
      ...{ createdAt: expect.stringMatching(/^\d{4}-.*Z$/), updatedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    });
    expect(response.headers.get('location')).toBe(`${JOBS}/${job.jobId}`);
    expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  });

  it('builds the job address from publicUrl, never from the Host header', async () => {
    const { app } = apiWith({ publicUrl: () => 'https://acme.dev/api/' });
    const response = await app.request(JOBS, start({ domain: 'acme' }, { Host: 'evil.example' }));
    expect(response.headers.get('location')).toMatch(/^\/api\/v1\/static-export\/jobs\/se_/);
  });

  it.each(['ACME', 'docs.acme.dev', 'Docs.Acme.Dev'])(
    'accepts %s for the domain acme, and returns the job with the domain acme',
    async (domain) => {
      expect((await withJob({ domain })).job.domain).toBe('acme');
    },
  );

  it('stores version and paths in the job, as null if the request omits them', async () => {
    const paths = ['/guides/start', 'guides/keys.html', '/caf%C3%A9', '/über', '/a..b/...', '/', '/a:b', '/100%'];
    const { queue, job } = await withJob({ domain: 'acme', version: 'v1', paths });
    expect(await queue.get(job.jobId)).toMatchObject({ version: 'v1', paths });
    const whole = await withJob();
    expect(await whole.queue.get(whole.job.jobId)).toMatchObject({ version: null, paths: null });
    expect(whole.job.version).toBe(null);
  });

  it('accepts field values at their limits', async () => {
    const version = 'v'.padEnd(128, '.');
    for (const paths of [['/'.padEnd(4096, 'a')], Array(10_000).fill('/')]) {
      expect((await apiWith().app.request(JOBS, start({ domain: 'acme', version, paths }))).status).toBe(202);
    }
  });

  it.each<[name: string, body: unknown, field: string | null]>([
    ['no domain', {}, 'domain'],
    ['a domain that is not text', { domain: 5 }, 'domain'],
    ['an empty domain', { domain: '' }, 'domain'],
    ['a domain that is too long', { domain: 'a'.repeat(254) }, 'domain'],
    ['an invalid version', { version: 'a b' }, 'version'],
    ['an empty version', { version: '' }, 'version'],
    ['a version that is too long', { version: 'v'.repeat(129) }, 'version'],
    ['a version that begins with a dot', { version: '.1' }, 'version'],
    ['a version that is not text', { version: 2 }, 'version'],
    ['a version with a line end', { version: 'v1\n' }, 'version'],
    ['paths that are not a list', { paths: '/a' }, 'paths'],
    ['an empty list of paths', { paths: [] }, 'paths'],
    ['too many paths', { paths: Array(10_001).fill('/') }, 'paths'],
    ['a path that is not text', { paths: ['/a', 1] }, 'paths[1]'],
    ['an empty path', { paths: ['/a', '/b', '/c', ''] }, 'paths[3]'],
    ['a path that is too long', { paths: ['/'.padEnd(4097, 'a')] }, 'paths[0]'],
    ['a URL', { paths: ['https://docs.acme.dev/a'] }, 'paths[0]'],
    ['a scheme', { paths: ['javascript:alert(1)'] }, 'paths[0]'],
    ['a host', { paths: ['//evil.example/a'] }, 'paths[0]'],
    ['a .. segment', { paths: ['/a/../b'] }, 'paths[0]'],
    ['a .. segment at the start', { paths: ['../b'] }, 'paths[0]'],
    ['a .. segment at the end', { paths: ['/a/..'] }, 'paths[0]'],
    ['a .. segment before a query', { paths: ['/a/..?b'] }, 'paths[0]'],
    ['an escaped .. segment', { paths: ['/a/%2e%2E/b'] }, 'paths[0]'],
    ['a .. segment between escaped slashes', { paths: ['/a%2F..%2fb'] }, 'paths[0]'],
    ['a backslash', { paths: ['/a\\..\\b'] }, 'paths[0]'],
    ['an escaped backslash', { paths: ['/a%5Cb'] }, 'paths[0]'],
    ['NUL', { paths: ['/a\u0000'] }, 'paths[0]'],
    ['an escaped NUL', { paths: ['/a%00'] }, 'paths[0]'],
    ['a line end', { paths: ['/a\n/../b'] }, 'paths[0]'],
    ['a C1 control character', { paths: ['/a\u0085'] }, 'paths[0]'],
    ['a .. segment after a line separator', { paths: ['/a\u2028/../b'] }, 'paths[0]'],
    ['half a surrogate pair', { paths: ['/\ud800'] }, 'paths[0]'],
    ['an unknown field', { pathes: ['/a'] }, 'pathes'],
    ['an unknown field with a line end in its name', { 'a\nb': 1 }, 'a?b'],
    ['the field __proto__', '{"domain":"acme","__proto__":{}}', '__proto__'],
    ['nothing', '', null],
  ])('rejects %s with 400 and names the field', async (name, body, field) => {
    const { app, queue } = apiWith();
    const isPartial = typeof body === 'object' && !Array.isArray(body) && !/domain/.test(name);
    const response = await app.request(JOBS, start(isPartial ? { domain: 'acme', ...body } : body));
    const { error } = (await response.clone().json()) as { error: string };
    expect([response.status, await codeOf(response), queue.size]).toEqual([400, 'bad_request', 0]);
    if (field !== null) expect(error).toContain(`"${field}"`);
  });

  it('responds with 409 for a domain without a source to export', async () => {
    expect(await outcomeOf(apiWith().app.request(JOBS, start({ domain: 'elsewhere' })))).toEqual([409, 'no_source']);
  });

  it('responds with 429 and Retry-After if too many jobs of the organization are queued', async () => {
    const { app } = apiWith(exportsInMemory({ settings: () => ({ linkTtlMs: 1000, queuedMax: 1 }) }));
    expect((await app.request(JOBS, start({ domain: 'acme' }))).status).toBe(202);
    const response = await app.request(JOBS, start({ domain: 'acme', version: 'v2' }));
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '5']);
    expect(await codeOf(response)).toBe('queue_full');
    const other = post({ domain: 'globex' }, { Authorization: `Bearer ${GLOBEX_ADMIN_KEY}` });
    expect((await app.request(JOBS, other)).status).toBe(202);
  });

  it('responds with 401 to a request without a key, even if its body is too large', async () => {
    const response = await apiWith().app.request(JOBS, post(' '.repeat(70_000), { Authorization: '' }));
    expect(response.status).toBe(401);
  });
});

describe('GET /jobs', () => {
  /** Three jobs, newest first. */
  async function withJobs() {
    const { app, queue } = apiWith();
    const ids: string[] = [];
    for (const version of ['v1', 'v2', 'v3']) {
      ids.unshift(((await (await app.request(JOBS, start({ domain: 'acme', version }))).json()) as Job).jobId);
    }
    queue.complete(ids[1] ?? '');
    const list = async (query: string) => {
      const response = await app.request(`${JOBS}${query}`, send());
      expect(response.status).toBe(200);
      const { jobs, nextCursor } = (await response.json()) as { jobs: Job[]; nextCursor: string | null };
      return { found: jobs.map(({ jobId }) => ids.indexOf(jobId)), nextCursor };
    };
    return { app, list };
  }

  it('lists all jobs, newest first, and ignores empty parameters', async () => {
    const { list } = await withJobs();
    expect(await list('')).toEqual({ found: [0, 1, 2], nextCursor: null });
    expect(await list('?domain=&status=&limit=&cursor=')).toEqual({ found: [0, 1, 2], nextCursor: null });
  });

  it('filters jobs by status and by domain, which can be a label or a host name', async () => {
    const { list } = await withJobs();
    expect((await list('?domain=Docs.Acme.dev')).found).toEqual([0, 1, 2]);
    expect((await list('?domain=elsewhere')).found).toEqual([]);
    expect((await list('?status=completed')).found).toEqual([1]);
    expect((await list('?domain=acme&status=queued')).found).toEqual([0, 2]);
  });

  it('returns the next page for the cursor of the previous page', async () => {
    const { list } = await withJobs();
    const first = await list('?limit=2');
    expect(first.found).toEqual([0, 1]);
    expect(await list(`?limit=2&cursor=${first.nextCursor}`)).toEqual({ found: [2], nextCursor: null });
  });

  it.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=101'],
    ['limit', '?limit=ten'],
    ['limit', '?limit=1.5'],
    ['status', '?status=done'],
    ['status', '?status=queued&status=running'],
    ['page', '?page=2'],
    ['__proto__', '?__proto__=x'],
    ['cursor', `?cursor=${'x'.repeat(513)}`],
    ['domain', `?domain=${'x'.repeat(254)}`],
  ])('responds with 400 and names the invalid parameter %s: %s', async (field, query) => {
    const { app } = await withJobs();
    const response = await app.request(`${JOBS}${query}`, send());
    const { error } = (await response.clone().json()) as { error: string };
    expect([response.status, await codeOf(response)]).toEqual([400, 'bad_request']);
    expect(error).toContain(`"${field}"`);
  });

  it('responds with 400 to a forged cursor', async () => {
    expect(await outcomeOf((await withJobs()).app.request(`${JOBS}?cursor=forged`, send()))).toEqual([
      400,
      'bad_request',
    ]);
  });
});

describe('GET /jobs/{jobId}', () => {
  it('returns the current job without internal fields', async () => {
    const { app, queue, job, path } = await withJob();
    queue.move(job.jobId, { status: 'running', progress: 42.5, pageCount: 7, attempt: 2, checkpoint: 'secret' });
    const response = await app.request(path, send());
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ ...job, status: 'running', progress: 42.5, pageCount: 7 });
  });

  it.each([UNKNOWN, 'se_1', 'SE_0000000000000000', '%2e%2e', 'x'.repeat(5000)])(
    'responds with 404 for %s',
    async (jobId) => {
      expect(await outcomeOf(apiWith().app.request(`${JOBS}/${jobId}`, send()))).toEqual([404, 'not_found']);
    },
  );

  it('responds to HEAD without a body', async () => {
    const { app, path } = await withJob();
    const response = await app.request(path, send('HEAD'));
    expect([response.status, await response.text()]).toEqual([200, '']);
  });
});

describe('GET /jobs/{jobId}/report', () => {
  it('returns the report of a finished job, and 409 before the job ends', async () => {
    const { app, queue, job, path } = await withJob();
    for (const status of ['queued', 'running'] as const) {
      queue.move(job.jobId, { status });
      expect(await outcomeOf(app.request(`${path}/report`, send()))).toEqual([409, 'not_completed']);
    }
    const finding = { kind: 'broken_reference', page: 'index.html', detail: 'gone.html leads nowhere' };
    const written: ExportReport = {
      ...{ jobId: job.jobId, pages: 2, files: 3, bytes: 9 },
      ...{ counts: { broken_reference: 1 }, findings: [finding] },
    };
    queue.complete(job.jobId, written);
    const response = await app.request(`${path}/report`, send());
    expect([response.status, await response.json()]).toEqual([200, written]);
  });
});

describe('GET /jobs/{jobId}/report/pictures/{name}', () => {
  it('returns a PNG, and 404 for a picture that the job does not have', async () => {
    const { app, path } = await withJob();
    const response = await app.request(`${path}/report/pictures/${PICTURE}`, send());
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'image/png']);
    expect((await response.arrayBuffer()).byteLength).toBe(8);
    expect(await outcomeOf(app.request(`${path}/report/pictures/2-live.png`, send()))).toEqual([404, 'not_found']);
  });
});

describe('DELETE /jobs/{jobId}', () => {
  it('responds with 202, and cancels a queued job immediately', async () => {
    const { app, job, path } = await withJob();
    const response = await app.request(path, send('DELETE'));
    expect([response.status, await response.json()]).toEqual([202, { ...job, status: 'failed', error: 'canceled' }]);
  });

  it('requests a running job to stop, and does not change a completed job', async () => {
    const { app, queue, job, path } = await withJob();
    queue.move(job.jobId, { status: 'running' });
    expect(await (await app.request(path, send('DELETE'))).json()).toMatchObject({ status: 'running' });
    expect((await queue.get(job.jobId))?.isCanceled).toBe(true);
    queue.complete(job.jobId);
    const response = await app.request(path, send('DELETE'));
    expect([response.status, ((await response.json()) as Job).status]).toEqual([202, 'completed']);
  });
});

describe('POST /jobs/{jobId}/bundle', () => {
  it.each<[string, RequestInit]>([
    ['no body', { headers: AUTHORIZATION }],
    ['an empty body', { headers: AUTHORIZATION, body: '' }],
    ['an empty body of type JSON', { headers: { ...AUTHORIZATION, 'Content-Type': 'application/json' }, body: '' }],
    ['an empty object', { headers: { ...AUTHORIZATION, 'Content-Type': 'application/json' }, body: '{}' }],
  ])('returns a link to the bundle if the request has %s', async (_, init) => {
    const { app, queue, job, path } = await withJob();
    queue.complete(job.jobId);
    const response = await app.request(`${path}/bundle`, { method: 'POST', ...init });
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({
      jobId: job.jobId,
      bundleUrl: expect.stringContaining('/acme-export-2024-06-01.tar.gz?'),
      sizeBytes: 4096,
      expiresAt: '2024-06-01T11:00:00.000Z',
      sha256: 'ab'.repeat(32),
    });
  });

  it.each(['queued', 'running', 'failed'] as const)('responds with 409 for a job that is %s', async (status) => {
    const { app, queue, job, path } = await withJob();
    queue.move(job.jobId, { status });
    expect(await outcomeOf(app.request(`${path}/bundle`, send('POST')))).toEqual([409, 'not_completed']);
  });

  it.each<[number, string, unknown, string]>([
    [400, 'bad_request', { ttl: 5 }, 'application/json'],
    [413, 'payload_too_large', ' '.repeat(65_537), 'application/json'],
    [415, 'unsupported_media_type', 'ttl=5', 'application/x-www-form-urlencoded'],
  ])('responds with %i %s if the body is not empty (%#)', async (status, code, body, type) => {
    const { app, queue, job, path } = await withJob();
    queue.complete(job.jobId);
    expect(await outcomeOf(app.request(`${path}/bundle`, start(body, { 'Content-Type': type })))).toEqual([
      status,
      code,
    ]);
  });

  it('responds with 404 for an unknown job, even if the body is too large', async () => {
    expect(await outcomeOf(apiWith().app.request(`${JOBS}/${UNKNOWN}/bundle`, start(' '.repeat(70_000))))).toEqual([
      404,
      'not_found',
    ]);
  });
});

describe('export API', () => {
  it.each([
    ['PUT', JOBS, 'GET, HEAD, POST'],
    ['OPTIONS', JOBS, 'GET, HEAD, POST'],
    ['POST', `${JOBS}/${UNKNOWN}`, 'GET, HEAD, DELETE'],
    ['POST', `${JOBS}/${UNKNOWN}/report`, 'GET, HEAD'],
    ['POST', `${JOBS}/${UNKNOWN}/report/pictures/${PICTURE}`, 'GET, HEAD'],
    ['GET', `${JOBS}/${UNKNOWN}/bundle`, 'POST'],
  ])('responds to %s %s with 405 and Allow', async (method, path, allow) => {
    const response = await apiWith().app.request(path, send(method));
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await codeOf(response)).toBe('method_not_allowed');
  });

  it.each(['/v1/static-export', `${JOBS}/`, `${JOBS}/${UNKNOWN}/x`, '/v1/bundles/a/b'])(
    'responds to the unknown path %s with 404',
    async (path) => {
      expect(await outcomeOf(apiWith().app.request(path, send()))).toEqual([404, 'not_found']);
    },
  );

  it('sends no CORS headers', async () => {
    const { app, path } = await withJob();
    for (const init of [send(), send('OPTIONS'), { headers: { Origin: 'https://evil.example' } }]) {
      const { headers } = await app.request(path, init);
      expect([...headers.keys()].filter((name) => name.startsWith('access-control-'))).toEqual([]);
    }
  });

  it('responds with 404 and code export_off if exports are turned off, while the search API still works', async () => {
    const { app } = apiWith({}, ['exports']);
    for (const [path, init] of [
      [JOBS, start({ domain: 'acme' })],
      [`${JOBS}/${UNKNOWN}`, send()],
      [`${JOBS}/${UNKNOWN}/bundle`, send('POST')],
    ] as const) {
      expect(await outcomeOf(app.request(path, init))).toEqual([404, 'export_off']);
    }
    expect((await app.request('/v1/search/acme', post({ query: 'a' }))).status).toBe(200);
  });
});

describe('download link', () => {
  const download = apiWith({
    download: (c) =>
      c.body(`${c.req.method} ${c.req.param('sha256')} ${c.req.param('fileName')}`, 200, {
        'Cache-Control': 'private, max-age=60',
      }),
  }).app;

  it('is served with the Cache-Control header that the download handler sets', async () => {
    const response = await download.request('/v1/bundles/abc/acme-export-2024-06-01.tar.gz?signature=x');
    expect(await response.text()).toBe('GET abc acme-export-2024-06-01.tar.gz');
    expect(response.headers.get('cache-control')).toBe('private, max-age=60');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it('accepts only GET and HEAD', async () => {
    const response = await download.request('/v1/bundles/abc/a.tar.gz', { method: 'POST' });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  });
});

it('export API writes an audit line with the id of the key for each POST and DELETE request, but not for GET', async () => {
  const lines: AuditLine[] = [];
  const store = { append: async (line: AuditLine) => void lines.push(line), read: () => Promise.reject(new Error()) };
  const uses: string[] = [];
  const audit = new AuditTrail(store, () => undefined);
  const { app } = apiWith({ audit, onKeyUse: (sha256) => uses.push(sha256) });
  const { jobId } = (await (await app.request(JOBS, start({ domain: 'acme' }))).json()) as Job;
  await app.request(`${JOBS}/${jobId}`, send());
  await app.request(`${JOBS}/${jobId}/bundle`, send('POST'));
  await app.request(`${JOBS}/${jobId}`, send('DELETE'));
  const by = { by: 'key', id: 'admin', organization: 'acme-inc', target: jobId };
  expect(lines).toMatchObject([
    { ...by, action: 'export-start', site: 'acme', result: 'ok' },
    { ...by, action: 'export-link', result: 'not_completed' },
    { ...by, action: 'export-cancel', result: 'ok' },
  ]);
  expect(uses).toEqual(Array(4).fill(createHash('sha256').update(ADMIN_KEY).digest('hex')));
});
