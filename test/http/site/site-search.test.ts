import { brotliDecompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { ClientRates } from '../../../src/http/limits/client-rates.ts';
import { type SiteSearchSettings, siteSearch } from '../../../src/http/site/site-search.ts';
import { NO_FACTS, type SearchRequest, writeAnswer } from '../../../src/search/index.ts';
import { RESULTS, searchThatNotes } from '../api/api-example.ts';
import { listenerBench } from '../listener/listener-bench.ts';
import { siteApp } from './site-example.ts';

const { open } = listenerBench();

function siteWith(changes: Partial<SiteSearchSettings> = {}) {
  const requests: SearchRequest[] = [];
  const search = siteSearch({
    search: searchThatNotes(requests),
    trustedProxies: [],
    metrics: { onError: () => undefined },
    ...changes,
  });
  return { app: siteApp({ state: () => 'waiting', search }), requests };
}

describe('GET /_docshelf/search', () => {
  it('needs no key, returns the same array as the API, and treats the last word as a prefix', async () => {
    const { app, requests } = siteWith();
    const response = await app.request('/_docshelf/search?q=+rotate+ke&limit=5&language=pt');
    expect([response.status, await response.json()]).toEqual([200, RESULTS]);
    expect(requests).toEqual([
      {
        query: 'rotate ke',
        pageSize: 5,
        scoreThreshold: null,
        filter: { version: null, language: 'pt', tag: null },
        prefixLast: true,
        isByWords: false,
        wantsFacts: false,
      },
    ]);
  });

  it('returns corrections and facets to the search box, and searches by keywords alone on request', async () => {
    const facets = { languages: [], versions: ['2', '1'], tags: [] };
    const facts = { ...NO_FACTS, corrected: 'rotate', facets, semantic: true };
    const requests: SearchRequest[] = [];
    const search = async (request: SearchRequest) => {
      requests.push(request);
      return writeAnswer(RESULTS, facts);
    };
    const { app } = siteWith({ search: { search } });
    const response = await app.request('/_docshelf/search?view=box&q=a&legs=words&version=2&tag=t');
    expect(await response.json()).toEqual({ results: RESULTS, ...facts });
    expect(requests).toMatchObject([{ isByWords: true, wantsFacts: true, filter: { version: '2', tag: 't' } }]);
  });

  it('compresses with a coding that the request accepts, if that saves a network packet', async () => {
    const long = RESULTS.map((result) => ({ ...result, content: 'rotate keys '.repeat(200) }));
    const searchWith = (accepted: string, results = long) =>
      siteWith({ search: { search: async () => writeAnswer(results) } }).app.request('/_docshelf/search?q=a', {
        headers: { 'Accept-Encoding': accepted },
      });
    const compressed = await searchWith('gzip, br');
    expect([compressed.headers.get('content-encoding'), compressed.headers.get('vary')]).toEqual([
      'br',
      'Accept-Encoding',
    ]);
    const bytes = Buffer.from(await compressed.arrayBuffer());
    expect(compressed.headers.get('content-length')).toBe(String(bytes.length));
    expect(JSON.parse(brotliDecompressSync(bytes).toString())).toEqual(long);
    const plain = await searchWith('identity');
    expect([plain.headers.get('content-encoding'), await plain.json()]).toEqual([null, long]);
    const short = await searchWith('br', []);
    expect([short.headers.get('content-encoding'), await short.json()]).toEqual([null, []]);
  });

  it('forbids caching and access from other origins', async () => {
    const { headers } = await siteWith().app.request('/_docshelf/search?q=a', { headers: { Origin: 'https://x.dev' } });
    expect(headers.get('cache-control')).toBe('no-store');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
  });

  it('uses default values for missing parameters, and ignores an empty language', async () => {
    const { app, requests } = siteWith();
    expect((await app.request('/_docshelf/search?q=a&language=')).status).toBe(200);
    expect(requests).toMatchObject([{ pageSize: 10, filter: { language: null } }]);
  });

  it.each([
    ['', '"q"'],
    ['?q=', '"q"'],
    ['?q=%20', '"q"'],
    [`?q=${'a'.repeat(1001)}`, '"q"'],
    ['?q=a&q=b', '"q"'],
    ['?q=a&limit=0', '"limit"'],
    ['?q=a&limit=51', '"limit"'],
    ['?q=a&limit=1.5', '"limit"'],
    ['?q=a&limit=1e1', '"limit"'],
    [`?q=a&language=${'x'.repeat(300)}`, '"language"'],
    ['?q=a&pagesize=5', 'limit'],
    ['?q=a&legs=none', '"legs"'],
    ['?q=a&view=page', '"view"'],
  ])('rejects the query string "%s" and names the invalid parameter', async (query, named) => {
    const { app, requests } = siteWith();
    const response = await app.request(`/_docshelf/search${query}`);
    expect([response.status, requests]).toEqual([400, []]);
    const problem = (await response.json()) as { code: string; error: string };
    expect(problem.code).toBe('bad_request');
    expect(problem.error).toContain(named);
  });

  it('responds to HEAD without a body, and rejects other methods', async () => {
    const { app } = siteWith();
    const head = await app.request('/_docshelf/search?q=a', { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await app.request('/_docshelf/search?q=a', { method: 'POST' })).status).toBe(405);
  });

  it('responds to a search error with a problem document', async () => {
    const building = new DocshelfError('index_building', 'Cannot search now', { fields: { retryAfterS: 3 } });
    const { app } = siteWith({ search: { search: () => Promise.reject(building) } });
    const response = await app.request('/_docshelf/search?q=a');
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3']);
    expect(await response.json()).toMatchObject({ code: 'index_building' });
  });

  it('limits requests per client, and uses forwarded addresses only from trusted proxies', async () => {
    const send = async (trustedProxies: readonly string[]) => {
      const clients = new ClientRates({ policy: { burst: 1, perSecond: 0.001 } });
      const { app } = siteWith({ clients, trustedProxies });
      const fetch = (...[request, env]: Parameters<typeof app.fetch>) => app.fetch(request, env);
      const listener = await open({ fetch });
      const statuses = [];
      for (const address of ['192.0.2.1', '192.0.2.2', '192.0.2.1']) {
        const headers = { 'X-Forwarded-For': address };
        const response = await globalThis.fetch(`${listener.url}/_docshelf/search?q=a`, { headers });
        statuses.push(response.status);
        // On a busy machine, some of the 1,000 seconds have passed.
        if (response.status === 429) expect(response.headers.get('retry-after')).toMatch(/^(?:9\d\d|1000)$/);
      }
      return statuses;
    };
    expect(await send(['127.0.0.1'])).toEqual([200, 200, 429]);
    expect(await send([])).toEqual([200, 429, 429]);
  });
});
