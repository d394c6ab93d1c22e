import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { codeOf, outcomeOf } from '../problem-code.ts';
import { ADMIN_KEY, apiWith, OTHER_KEY, post, RESULTS, ratesOf } from './api-example.ts';

const PATH = '/v1/search/acme';
const QUERY = { query: 'rotate keys' };
const NO_FILTER = { version: null, language: null, tag: null };

describe('POST /v1/search/{domain}', () => {
  it('responds with an array of results', async () => {
    const { app, requests } = apiWith();
    const response = await app.request(PATH, post(QUERY));
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toEqual(RESULTS);
    expect(requests).toEqual([
      { query: 'rotate keys', pageSize: 10, scoreThreshold: null, filter: NO_FILTER, prefixLast: false },
    ]);
  });

  it('passes every field of the request body to the search', async () => {
    const { app, requests } = apiWith();
    const filter = { version: 'v2', language: 'pt', tag: 'auth' };
    await app.request(PATH, post({ query: ' a ', pageSize: 50, scoreThreshold: 0.25, filter }));
    expect(requests).toEqual([{ query: 'a', pageSize: 50, scoreThreshold: 0.25, filter, prefixLast: false }]);
  });

  it.each(['/v1/search/ACME', '/v1/search/docs.acme.dev', '/v1/search/Docs.Acme.Dev'])(
    'accepts a domain label or a host name in uppercase or lowercase: %s',
    async (path) => {
      expect((await apiWith().app.request(path, post(QUERY))).status).toBe(200);
    },
  );

  it.each([
    ['an unknown domain', '/v1/search/nobody'],
    ['a domain of another organization', '/v1/search/beta'],
    ['a domain without a site on this daemon', '/v1/search/elsewhere'],
  ])('responds with the same 404 for %s', async (_, path) => {
    const { app, requests } = apiWith();
    const response = await app.request(path, post(QUERY));
    const { error, ...problem } = (await response.clone().json()) as { error: string };
    expect([response.status, await codeOf(response), requests]).toEqual([404, 'not_found', []]);
    expect(error).toBe(`Cannot search "${path.slice(11)}": there is no such domain`);
    expect(JSON.stringify(problem)).not.toContain('organization "');
  });
});

describe('validation of a search request', () => {
  it.each<[name: string, body: unknown, field: string | null]>([
    ['no query', {}, 'query'],
    ['a blank query', { query: ' \u3000\n' }, 'query'],
    ['a query that is not text', { query: 5 }, 'query'],
    ['a query that is too long', { query: 'a'.repeat(1001) }, 'query'],
    ['page size 0', { ...QUERY, pageSize: 0 }, 'pageSize'],
    ['page size 51', { ...QUERY, pageSize: 51 }, 'pageSize'],
    ['page size 1.5', { ...QUERY, pageSize: 1.5 }, 'pageSize'],
    ['a page size as text', { ...QUERY, pageSize: '10' }, 'pageSize'],
    ['a page size of null', { ...QUERY, pageSize: null }, 'pageSize'],
    ['a threshold below 0', { ...QUERY, scoreThreshold: -0.01 }, 'scoreThreshold'],
    ['a threshold above 1', { ...QUERY, scoreThreshold: 1.01 }, 'scoreThreshold'],
    ['an invalid filter', { ...QUERY, filter: [] }, 'filter'],
    ['an unknown filter', { ...QUERY, filter: { colour: 'red' } }, 'filter.colour'],
    ['an empty filter value', { ...QUERY, filter: { tag: '' } }, 'filter.tag'],
    ['a filter value that is not text', { ...QUERY, filter: { version: 2 } }, 'filter.version'],
    ['an unknown field', { ...QUERY, page: 2 }, 'page'],
    ['the field __proto__', '{"query":"a","__proto__":{}}', '__proto__'],
    ['the field constructor', { ...QUERY, constructor: 1 }, 'constructor'],
    ['a list', [QUERY], null],
    ['null', 'null', null],
    ['text', '"a"', null],
  ])('rejects %s with 400 and names the field', async (_, body, field) => {
    const { app, requests } = apiWith();
    const response = await app.request(PATH, post(body));
    const { error } = (await response.clone().json()) as { error: string };
    expect([response.status, await codeOf(response), requests]).toEqual([400, 'bad_request', []]);
    if (field !== null) expect(error).toContain(`"${field}"`);
  });

  it('counts the length of a text in code points, after trimming', async () => {
    const { app, requests } = apiWith();
    for (const query of ['a'.repeat(1000), ` ${'😀'.repeat(1000)}\n`, 'a\u0000"b', '\ud800']) {
      expect((await app.request(PATH, post({ query }))).status).toBe(200);
    }
    expect(requests.map(({ query }) => [...query].length)).toEqual([1000, 1000, 4, 1]);
    expect(requests.at(-1)?.query).toBe('\ufffd');
    expect((await app.request(PATH, post({ query: '😀'.repeat(1001) }))).status).toBe(400);
  });

  it('accepts field values at their limits', async () => {
    const { app } = apiWith();
    for (const body of [
      { pageSize: 1 },
      { pageSize: 50 },
      { scoreThreshold: 0 },
      { scoreThreshold: 1 },
      { filter: {} },
    ]) {
      expect((await app.request(PATH, post({ ...QUERY, ...body }))).status).toBe(200);
    }
  });
});

describe('body of a search request', () => {
  it.each(['application/json', 'Application/JSON; charset=utf-8', 'application/vnd.acme+json'])(
    'is accepted with Content-Type %s',
    async (type) => {
      expect((await apiWith().app.request(PATH, post(QUERY, { 'Content-Type': type }))).status).toBe(200);
    },
  );

  it.each<[string, Record<string, string>]>([
    ['text', { 'Content-Type': 'text/plain' }],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['without Content-Type', { 'Content-Type': '' }],
    ['almost JSON', { 'Content-Type': 'application/jsonp' }],
    ['compressed', { 'Content-Encoding': 'gzip' }],
  ])('is rejected with 415 if it is %s', async (_, headers) => {
    expect(await outcomeOf(apiWith().app.request(PATH, post(QUERY, headers)))).toEqual([415, 'unsupported_media_type']);
  });

  it.each(['', '{', '{"query":"a"} x', "{query:'a'}", '[1,]', '['.repeat(60_000)])(
    'is rejected with 400 if it is not valid JSON (%#)',
    async (body) => {
      expect(await outcomeOf(apiWith().app.request(PATH, post(body)))).toEqual([400, 'bad_request']);
    },
  );

  it('is rejected if it is not valid UTF-8', async () => {
    const init = { ...post(''), body: Buffer.from('{"query":"caf\xe9"}', 'latin1') };
    expect((await apiWith().app.request(PATH, init)).status).toBe(400);
  });

  it('has a limit of exactly 64 KiB', async () => {
    const { app } = apiWith();
    const text = JSON.stringify(QUERY);
    expect((await app.request(PATH, post(text.padEnd(65_536)))).status).toBe(200);
    expect(await outcomeOf(app.request(PATH, post(text.padEnd(65_537))))).toEqual([413, 'payload_too_large']);
  });

  it('is not rejected for its size before the key and the domain are accepted', async () => {
    const { app } = apiWith();
    const tooLarge = ' '.repeat(70_000);
    expect((await app.request(PATH, post(tooLarge, { Authorization: '' }))).status).toBe(401);
    expect((await app.request('/v1/search/beta', post(tooLarge))).status).toBe(404);
  });
});

describe('rate limit of the API', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 0 }));
  afterEach(() => void vi.useRealTimers());
  const limited = (requestsMax: number) => {
    const policy = { requestsMax, windowMs: 3600_000 };
    return apiWith({ rates: ratesOf({ policy }) });
  };

  it('is stated in the headers of every counted response, including errors', async () => {
    const { app } = limited(10);
    const statuses = [];
    for (const [path, body] of [
      [PATH, QUERY],
      [PATH, {}],
      ['/v1/search/beta', QUERY],
    ] as const) {
      const { status, headers } = await app.request(path, post(body));
      statuses.push([status, headers.get('ratelimit'), headers.get('ratelimit-policy')]);
    }
    expect(statuses).toEqual([
      [200, '"hour";r=9;t=3600', '"hour";q=10;w=3600'],
      [400, '"hour";r=8;t=3600', '"hour";q=10;w=3600'],
      [404, '"hour";r=7;t=3600', '"hour";q=10;w=3600'],
    ]);
  });

  it('responds with 429 and Retry-After, and accepts requests again after the stated time', async () => {
    const { app, requests } = limited(2);
    for (let index = 0; index < 2; index++) expect((await app.request(PATH, post(QUERY))).status).toBe(200);
    vi.setSystemTime(600_000);
    const response = await app.request(PATH, post(QUERY));
    expect([response.status, response.headers.get('retry-after'), response.headers.get('ratelimit')]).toEqual([
      429,
      '3000',
      '"hour";r=0;t=3000',
    ]);
    expect([await codeOf(response), requests.length]).toEqual(['rate_limited', 2]);
    vi.setSystemTime(3600_000);
    expect((await app.request(PATH, post(QUERY))).status).toBe(200);
  });

  it('is shared by all keys of an organization, but not with other organizations', async () => {
    const { app } = limited(1);
    expect((await app.request(PATH, post(QUERY))).status).toBe(200);
    expect((await app.request('/v1/search/docs.acme.dev', post(QUERY))).status).toBe(429);
    const other = post(QUERY, { Authorization: `Bearer ${OTHER_KEY}` });
    expect((await app.request('/v1/search/beta', other)).status).toBe(200);
  });

  it('does not count requests without a valid key', async () => {
    const { app } = limited(1);
    for (const path of [PATH, '/v1/search/nobody']) {
      const unknown = await app.request(path, post(QUERY, { Authorization: 'Bearer x' }));
      expect([unknown.status, unknown.headers.has('ratelimit')]).toEqual([401, false]);
      expect((await app.request(path, post(QUERY, { Authorization: `Bearer ${ADMIN_KEY}` }))).status).toBe(403);
    }
    expect((await app.request(PATH, post(QUERY))).status).toBe(200);
  });
});

describe('CORS', () => {
  it('responds to a preflight of any origin without a key, and lets browsers cache the response for a day', async () => {
    const { status, headers } = await apiWith().app.request(PATH, {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://docs.example.com',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': 'authorization,content-type',
      },
    });
    expect(status).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'Authorization, Content-Type',
      'access-control-max-age': '86400',
    });
    expect(headers.has('access-control-allow-credentials')).toBe(false);
  });

  it('lets every origin read the response and the rate limit headers, including errors', async () => {
    const { app } = apiWith();
    for (const init of [post(QUERY), post({}), post(QUERY, { Authorization: '' }), { method: 'GET' }]) {
      const { headers } = await app.request(PATH, init);
      expect(headers.get('access-control-allow-origin')).toBe('*');
      expect(headers.get('access-control-expose-headers')).toBe(
        'RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
      );
    }
  });
});

describe('API, unsupported requests', () => {
  it.each([
    ['GET', PATH, 'POST, OPTIONS'],
    ['PUT', PATH, 'POST, OPTIONS'],
    ['POST', '/openapi.json', 'GET, HEAD'],
  ])('responds to %s %s with 405 and Allow', async (method, path, allow) => {
    const response = await apiWith().app.request(path, { method });
    expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
    expect(await codeOf(response)).toBe('method_not_allowed');
  });

  it.each(['/', '/v1/search', '/v1/search/', '/v1/search/acme/x'])(
    'responds to the unknown path %s with 404',
    async (path) => {
      expect(await outcomeOf(apiWith().app.request(path, post(QUERY)))).toEqual([404, 'not_found']);
    },
  );
});

describe('search API that is turned off', () => {
  it('responds with 404 and code search_off, readable for scripts of any origin', async () => {
    const response = await apiWith({}, ['search']).app.request(PATH, post(QUERY));
    expect([response.status, response.headers.get('access-control-allow-origin')]).toEqual([404, '*']);
    expect(await codeOf(response)).toBe('search_off');
  });
});

describe('search API, failed search', () => {
  const failing = (error: unknown) => apiWith({ search: () => ({ search: () => Promise.reject(error) }) });

  it('responds with 503 and Retry-After while the first index is being built', async () => {
    const { app } = failing(new DocshelfError('index_building', 'Cannot search now', { fields: { retryAfterS: 7 } }));
    const response = await app.request(PATH, post(QUERY));
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '7']);
    expect(await codeOf(response)).toBe('index_building');
  });

  it('passes an unexpected error to onError, and hides its message from the client', async () => {
    const { app, faults, reported } = failing(new Error('the password is canary'));
    const response = await app.request(PATH, post(QUERY));
    expect(await response.clone().text()).not.toContain('canary');
    expect([response.status, await codeOf(response)]).toEqual([500, 'internal']);
    expect([faults.length, reported]).toEqual([1, ['internal']]);
  });

  it('does not pass an error to onError if the client has disconnected', async () => {
    const { app, faults, reported } = failing(new DOMException('left', 'AbortError'));
    await app.request(PATH, { ...post(QUERY), signal: AbortSignal.abort() });
    expect([faults, reported]).toEqual([[], ['bad_request']]);
  });
});
