import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import { ClientRates } from '../../../src/http/limits/client-rates.ts';
import { SiteAssets } from '../../../src/http/site/site-assets.ts';
import { type SiteSearchSettings, siteSearch } from '../../../src/http/site/site-search.ts';
import {
  NO_FACTS,
  type Search,
  type SearchFacts,
  type SearchRequest,
  type SearchResult,
  writeAnswer,
} from '../../../src/search/index.ts';
import { languageOf } from '../../../src/web/words/index.ts';
import { attribute, nodes, type PageNode, parsedNodes, text } from '../../helpers/page-nodes.ts';
import { RESULTS } from '../api/api-example.ts';
import { HOSTILE } from './shelf-example.ts';
import { siteApp } from './site-example.ts';

const NAVIGATION = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };
const FACTS: SearchFacts = NO_FACTS;
const assets = new SiteAssets();

function result(path: string, content: string, changes: Partial<SearchResult['metadata']> = {}): SearchResult {
  const metadata = { score: 0.9, title: 'Keys', headings: ['Keys'], version: '2', language: 'en', tags: [] };
  return { path, content, metadata: { ...metadata, highlights: [], ...changes } };
}

type Found = { readonly results: readonly SearchResult[]; readonly facts?: SearchFacts };

function siteWith(answer: Found | Error, changes: Partial<SiteSearchSettings> = {}, language = 'en') {
  const requests: SearchRequest[] = [];
  const search: Search = {
    search: async (request) => {
      requests.push(request);
      if (answer instanceof Error) throw answer;
      return writeAnswer(answer.results, request.wantsFacts ? (answer.facts ?? NO_FACTS) : undefined);
    },
  };
  const app = siteApp({
    basePath: '/docs/',
    assets,
    search: siteSearch({
      search,
      page: { assets, language: async () => languageOf(language) },
      trustedProxies: [],
      metrics: { onError: () => undefined },
      ...changes,
    }),
  });
  const send = (query: string, headers: Record<string, string> = NAVIGATION, method = 'GET') =>
    app.request(`/docs/_docshelf/search${query}`, { headers, method });
  return { app, send, requests };
}

async function read(response: Response) {
  const all = parsedNodes(await response.text());
  const named = (name: string, within = all) => within.filter(({ nodeName }) => nodeName === name);
  const links = (within: PageNode) => named('a', nodes(within)).map((each) => [text(each), attribute(each, 'href')]);
  const status = text(all.find((node) => attribute(node, 'role') === 'status') as PageNode);
  return { all, named, links, status };
}

describe('search results page', () => {
  it('is served to clients that prefer HTML, while other clients get JSON', async () => {
    const { send } = siteWith({ results: RESULTS });
    const plain = await send('?q=a', {});
    const headers = Object.fromEntries(plain.headers);
    expect(await plain.json()).toEqual(RESULTS);
    for (const accept of ['*/*', 'application/json', 'text/html, application/json', 'text/html;q=0.1, */*']) {
      const other = await send('?q=a', { accept });
      expect([await other.json(), Object.fromEntries(other.headers)], accept).toEqual([RESULTS, headers]);
    }
    expect((await (await send('?q=a&view=box')).json()).results).toEqual(RESULTS);
    const page = await send('?q=a');
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const bare = siteWith({ results: RESULTS }, { page: undefined } as never);
    expect(await (await bare.send('?q=a')).json()).toEqual(RESULTS);
  });

  it('sets the text direction of each page in the results by the language of this page', async () => {
    const results = ['he', 'en', null].map((language) => result(`/docs/${language}/`, 'x', { language }));
    const { named } = await read(await siteWith({ results }, {}, 'ar').send('?q=a'));
    expect(named('section').map((each) => attribute(each, 'dir'))).toEqual(['rtl', 'ltr', undefined]);
  });

  it('is not cached, not indexed, and runs no script', async () => {
    const { headers } = await siteWith({ results: RESULTS }).send('?q=a');
    const names = ['cache-control', 'vary', 'x-robots-tag', 'referrer-policy', 'x-content-type-options'];
    expect(names.map((name) => headers.get(name))).toEqual([
      'no-store',
      'Accept, Accept-Encoding',
      'noindex',
      'same-origin',
      'nosniff',
    ]);
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
  });

  it('shows results by page with heading path and highlighted passage, in the style of the site', async () => {
    const results = [
      result('/docs/keys/#rotate', 'How to rotate the keys.', {
        headings: ['Keys', 'Care', 'Rotate'],
        highlights: [{ start: 7, end: 13 }],
      }),
      result('/docs/start/', 'Begin here.', { title: 'Start', headings: ['Start'] }),
      result('/docs/keys/', 'const key = make();\nrotate(key);', {
        highlights: [{ start: 20, end: 26 }],
        code: [{ start: 0, end: 32 }],
      }),
    ];
    const { app, send, requests } = siteWith({ results, facts: FACTS });
    const { named, links, status } = await read(await send('?q=rotate'));
    expect(requests).toMatchObject([{ query: 'rotate', pageSize: 20, wantsFacts: true, prefixLast: true }]);
    expect(status).toBe('Results: 3');
    expect(named('title').map(text)).toEqual(['rotate – Search']);
    expect(named('section').map(links)).toEqual([
      [
        ['Keys', '/docs/keys/'],
        ['Care › Rotate', '/docs/keys/#rotate'],
      ],
      [['Start', '/docs/start/']],
    ]);
    expect(named('mark').map(text)).toEqual(['rotate', 'rotate']);
    expect(named('pre').map(text)).toEqual(['const key = make(); rotate(key);']);
    expect(named('input').map((each) => attribute(each, 'value'))).toEqual(['rotate']);
    expect(named('select')).toEqual([]);
    for (const each of named('link')) {
      const { pathname } = new URL(attribute(each, 'href') ?? '', 'http://localhost/docs/_docshelf/search?q=rotate');
      expect([(await app.request(pathname)).status, pathname]).toEqual([200, expect.stringMatching(/-[0-9a-f]{16}\./)]);
    }
  });

  it('offers the corrected query, the facets and more results', async () => {
    const facets = { languages: ['en', 'de'], versions: ['2', '1'], tags: [] };
    const results = Array.from({ length: 2 }, (_, at) => result(`/docs/${at}`, 'text'));
    const { send } = siteWith({ results, facts: { ...FACTS, corrected: 'rotate & key', facets, semantic: true } });
    const { named, links } = await read(await send('?q=rotaet&language=de&limit=2&tag=x'));
    expect(links(named('main')[0] as PageNode)).toEqual([
      ['rotate & key', '?q=rotate+%26+key&language=de&tag=x'],
      ['Keys', '/docs/0'],
      ['Keys', '/docs/1'],
      ['More results', '?q=rotaet&language=de&tag=x&limit=50'],
    ]);
    expect(named('option').map((each) => [text(each), attribute(each, 'value'), attribute(each, 'selected')])).toEqual([
      ['All', '', undefined],
      ['English', 'en', undefined],
      ['German', 'de', ''],
      ['All', '', ''],
      ['2', '2', undefined],
      ['1', '1', undefined],
      ['All', '', undefined],
      ['x', 'x', ''],
    ]);
  });

  it('lists the excluded words, and links to the same query without exclusions', async () => {
    const facts = { ...FACTS, excluded: ['motorcar', 'a & b'], inclusive: 'jaguar motorcar "a & b"' };
    const found = await read(await siteWith({ results: [result('/docs/', 'x')], facts }).send('?q=jaguar&language=de'));
    const main = found.named('main')[0] as PageNode;
    expect(found.links(main)[0]).toEqual([facts.inclusive, '?q=jaguar+motorcar+%22a+%26+b%22&language=de']);
    expect(text(main)).toContain('Excluded: motorcar, a & b');
  });

  it('marks a count as incomplete if there are more results, and offers hints if there are no results', async () => {
    const results = [result('/docs/', 'x'), result('/docs/#b', 'x')];
    const statusOf = async (limit: number) =>
      (await read(await siteWith({ results }).send(`?q=a&limit=${limit}`))).status;
    expect([await statusOf(2), await statusOf(3)]).toEqual(['Results: 2+', 'Results: 2']);
    const none = await read(await siteWith({ results: [] }).send('?q=zxqvjk'));
    expect(text(none.named('main')[0] as PageNode)).toContain('Check the spelling');
  });

  it('shows only a form if the query is empty, and does not search', async () => {
    const { send, requests } = siteWith({ results: [] });
    for (const query of ['', '?q=', '?q=%20&language=de']) {
      const { status, named } = await read(await send(query));
      expect([status, named('input').length, requests]).toEqual(['Enter a search term.', 1, []]);
    }
  });

  it('states in the language of the site that there are no results', async () => {
    const { send } = siteWith({ results: [] }, {}, 'fa');
    const response = await send('?q=$%26', { ...NAVIGATION, 'accept-language': 'de' });
    expect([response.status, response.headers.get('content-language')]).toEqual([200, 'fa']);
    const { named, status } = await read(response);
    expect([attribute(named('html')[0] as PageNode, 'dir'), status]).toEqual(['rtl', 'چیزی برای «$&» پیدا نشد']);
  });

  it('uses the language of the reader if the site has none', async () => {
    const response = await siteWith({ results: [] }, {}, 'none').send('', { ...NAVIGATION, 'accept-language': 'de' });
    expect([response.headers.get('content-language'), response.headers.get('vary')]).toEqual([
      'de',
      'Accept, Accept-Encoding, Accept-Language',
    ]);
  });

  const building = new DocshelfError('index_building', 'Cannot search now', { fields: { retryAfterS: 3 } });
  const refused = 'This search is not possible. Use fewer words, then try again.';
  it.each<[number, string, string, Error | null, string | null]>([
    [400, refused, `?q=${'a'.repeat(1001)}`, null, null],
    [400, refused, '?q=a&q=b', null, null],
    [503, 'The search is not ready yet. Try again shortly.', '?q=a', building, '3'],
    [500, 'The search did not respond. Try again shortly.', '?q=a', new Error('secret'), null],
  ])('explains an error with status %i: %s', async (code, expected, query, fault, retryAfter) => {
    const response = await siteWith(fault ?? { results: [] }).send(query);
    expect([response.status, response.headers.get('retry-after')]).toEqual([code, retryAfter]);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    const { status, named } = await read(response);
    expect([status, named('input').length]).toEqual([expected, 1]);
  });

  it('responds with 429 and Retry-After to a client that exceeds its rate limit', async () => {
    const clients = new ClientRates({ policy: { burst: 1, perSecond: 0.001 } });
    const { send } = siteWith({ results: [] }, { clients });
    await send('?q=a');
    const response = await send('?q=a');
    expect([response.status, response.headers.get('retry-after')]).toEqual([429, '1000']);
    expect((await read(response)).status).toBe('Too many searches at the moment. Try again shortly.');
  });

  it('responds to HEAD without a body, and compresses the page if the reader accepts it', async () => {
    const { send } = siteWith({ results: RESULTS });
    const whole = await (await send('?q=a')).text();
    const head = await send('?q=a', NAVIGATION, 'HEAD');
    const length = `${Buffer.byteLength(whole)}`;
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, length, '']);
    const packed = await send('?q=a', { ...NAVIGATION, 'accept-encoding': 'gzip' });
    expect(gunzipSync(await packed.arrayBuffer()).toString()).toBe(whole);
  });

  it('escapes all values, and links to no other host', async () => {
    const facets = { languages: [HOSTILE, 'en'], versions: [HOSTILE, '1'], tags: [HOSTILE, 'a'] };
    const hits = { highlights: [{ start: 0, end: HOSTILE.length }], title: HOSTILE, headings: [HOSTILE, 'b'] };
    const places = ['//evil.example/', '/\t/evil.example/', '\\\\evil.example', 'javascript:alert(1)', `/${HOSTILE}`];
    const results = places.map((path) => result(path, HOSTILE, { ...hits, language: HOSTILE, version: HOSTILE }));
    const { send } = siteWith({
      results,
      facts: { corrected: HOSTILE, excluded: [HOSTILE], inclusive: HOSTILE, facets, semantic: false },
    });
    const query = new URLSearchParams({ q: HOSTILE, version: HOSTILE, tag: HOSTILE });
    const { all, named } = await read(await send(`?${query}`));
    expect(named('script')).toEqual([]);
    expect(named('img')).toHaveLength(1);
    expect(all.flatMap(({ attrs = [] }) => attrs.filter(({ name }) => name.startsWith('on')))).toEqual([]);
    expect(named('mark').map(text)).toEqual(places.map(() => HOSTILE));
    const page = 'http://localhost/docs/_docshelf/search';
    for (const each of named('a')) expect(new URL(attribute(each, 'href') ?? '', page).host).toBe('localhost');
  });
});
