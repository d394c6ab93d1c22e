import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { accessOf } from '../../../src/http/api/auth.ts';
import { newKey } from '../../../src/http/keys/key-store.ts';
import { codeOf } from '../problem-code.ts';
import { ADMIN_KEY, apiWith, GLOBEX_ADMIN_KEY, KEY, ORGANIZATIONS, post, TEAM_ADMIN_KEY } from './api-example.ts';
import { PICTURE } from './exports-in-memory.ts';

/** Each call of the API with each kind of key. */

const JOBS = '/v1/static-export/jobs';
const SEARCH = 'POST /v1/search';

/** All calls, for the domain and the job of one organization. */
const CALLS: Readonly<
  Record<string, (jobId: string, domain: string) => [path: string, method: string, body?: object]>
> = {
  'POST /jobs': (_, domain) => [JOBS, 'POST', { domain }],
  'GET /jobs?domain': (_, domain) => [`${JOBS}?domain=${domain}`, 'GET'],
  'GET /jobs/{jobId}': (jobId) => [`${JOBS}/${jobId}`, 'GET'],
  'GET /jobs/{jobId}/report': (jobId) => [`${JOBS}/${jobId}/report`, 'GET'],
  'GET /jobs/{jobId}/report/pictures/{name}': (jobId) => [`${JOBS}/${jobId}/report/pictures/${PICTURE}`, 'GET'],
  'POST /jobs/{jobId}/bundle': (jobId) => [`${JOBS}/${jobId}/bundle`, 'POST'],
  'DELETE /jobs/{jobId}': (jobId) => [`${JOBS}/${jobId}`, 'DELETE'],
  [SEARCH]: (_, domain) => [`/v1/search/${domain}`, 'POST', { query: 'a' }],
};
const SUCCESS: Readonly<Record<string, number>> = { 'POST /jobs': 202, 'DELETE /jobs/{jobId}': 202 };

type Outcome = readonly [status: number, code: string | null];
const UNAUTHORIZED: Outcome = [401, 'unauthorized'];
const FORBIDDEN: Outcome = [403, 'forbidden'];
const NOT_FOUND: Outcome = [404, 'not_found'];

/** Status of export calls and searches. Null means success. */
const KEYS: readonly [
  kind: string,
  authorization: string | null,
  exported: Outcome | null,
  searched: Outcome | null,
][] = [
  ['no key', null, UNAUTHORIZED, UNAUTHORIZED],
  ['an empty Authorization header', '', UNAUTHORIZED, UNAUTHORIZED],
  ['another authorization scheme', `Basic ${ADMIN_KEY}`, UNAUTHORIZED, UNAUTHORIZED],
  ['a key without scheme', ADMIN_KEY, UNAUTHORIZED, UNAUTHORIZED],
  ['two keys in one header', `Bearer ${ADMIN_KEY} ${ADMIN_KEY}`, UNAUTHORIZED, UNAUTHORIZED],
  ['an unknown key', 'Bearer svc_unknown', UNAUTHORIZED, UNAUTHORIZED],
  ['an assistant key', `Bearer ${KEY}`, FORBIDDEN, null],
  ['an admin key without the plan', `Bearer ${TEAM_ADMIN_KEY}`, FORBIDDEN, FORBIDDEN],
  ["another organization's admin key", `Bearer ${GLOBEX_ADMIN_KEY}`, NOT_FOUND, FORBIDDEN],
  ['an admin key', `Bearer ${ADMIN_KEY}`, null, FORBIDDEN],
  ['an admin key with the scheme in another case', `bEARER  ${ADMIN_KEY}`, null, FORBIDDEN],
];

/** Returns the API with a completed job of the first organization. */
async function withCompletedJob() {
  const api = apiWith();
  const started = await api.app.request(JOBS, post({ domain: 'acme' }, { Authorization: `Bearer ${ADMIN_KEY}` }));
  const { jobId } = (await started.json()) as { jobId: string };
  api.queue.complete(jobId);
  return { ...api, jobId };
}

function requestOf(method: string, authorization: string | null, body?: object): RequestInit {
  return {
    method,
    headers: {
      ...(authorization === null ? {} : { Authorization: authorization }),
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  };
}

describe.each(KEYS)('API request with %s', (_, authorization, exported, searched) => {
  it.each(Object.keys(CALLS))(
    'succeeds for %s only if its key permits the call, and changes no job if it is rejected',
    async (call) => {
      const { app, jobId, queue } = await withCompletedJob();
      const [path, method, body] = CALLS[call]?.(jobId, 'acme') ?? ['', ''];
      const before = await queue.get(jobId);
      const response = await app.request(path, requestOf(method, authorization, body));
      const refused = call === SEARCH ? searched : exported;
      const code = refused === null ? null : await codeOf(response);
      expect([response.status, code]).toEqual(refused ?? [SUCCESS[call] ?? 200, null]);
      expect(response.headers.get('www-authenticate')).toBe(response.status === 401 ? 'Bearer' : null);
      expect(response.headers.get('cache-control')).toBe('no-store');
      if (refused === null) return;
      expect([queue.size, await queue.get(jobId)]).toEqual([1, before]);
    },
  );
});

describe('key of a second organization', () => {
  const globex = `Bearer ${GLOBEX_ADMIN_KEY}`;

  it('gets the same response for a domain or job of another organization as for an unknown domain or job', async () => {
    const { app, jobId } = await withCompletedJob();
    for (const [call, requestFor] of Object.entries(CALLS)) {
      if (call === SEARCH) continue;
      const answers = [];
      for (const [id, domain] of [
        [jobId, 'docs.acme.dev'],
        ['se_0000000000000000', 'docs.nobody.dev'],
      ] as const) {
        const [path, method, body] = requestFor(id, domain);
        const text = await (await app.request(path, requestOf(method, globex, body))).text();
        answers.push(text.replaceAll(id, 'ID').replaceAll(domain, 'DOMAIN'));
      }
      expect(answers[0], call).toBe(answers[1]);
    }
  });

  it('lists only jobs of its own organization', async () => {
    const { app, jobId } = await withCompletedJob();
    const list = async (authorization: string) =>
      (await (await app.request(JOBS, requestOf('GET', authorization))).json()) as { jobs: { jobId: string }[] };
    expect(await list(globex)).toEqual({ jobs: [], nextCursor: null });
    await app.request(JOBS, requestOf('POST', globex, { domain: 'globex' }));
    expect((await list(globex)).jobs.map((job) => job.jobId)).not.toContain(jobId);
    expect((await list(`Bearer ${ADMIN_KEY}`)).jobs.map((job) => job.jobId)).toEqual([jobId]);
  });
});

describe('API while the keys cannot be read', () => {
  const fault = new DocshelfError('database_unavailable', 'Cannot use the database: 10.0.0.7 does not answer');
  const access = accessOf(ORGANIZATIONS, () => fault);
  const send = (key: string) =>
    apiWith({ access: () => access }).app.request(
      '/v1/search/acme',
      post({ query: 'a' }, { Authorization: `Bearer ${key}` }),
    );

  it('responds with 503 to an unknown key, which may be new, and hides the details', async () => {
    const response = await send(newKey('assistant').key);
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({
      code: 'database_unavailable',
      error: expect.stringContaining('cannot read the stored keys'),
    });
    expect(text).not.toContain('10.0.0.7');
  });

  it('accepts keys that it has already read, and rejects values that do not have the format of a key', async () => {
    expect((await send(KEY)).status).toBe(200);
    expect((await send('svc_guessed')).status).toBe(401);
  });
});

it('export API hides the details of a database failure from the client', async () => {
  const away = new DocshelfError('database_unavailable', 'Cannot use the database: connect ECONNREFUSED 10.0.0.7:5432');
  const { app } = apiWith({ search: () => ({ search: () => Promise.reject(away) }) });
  const response = await app.request('/v1/search/acme', post({ query: 'a' }, { Authorization: `Bearer ${KEY}` }));
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '5']);
  const text = await response.text();
  expect(JSON.parse(text)).toMatchObject({ code: 'database_unavailable', next: expect.stringContaining('Try again') });
  expect(text).not.toContain('10.0.0.7');
});
