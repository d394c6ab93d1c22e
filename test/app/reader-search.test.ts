import { afterEach, describe, expect, it } from 'vitest';
import { OpenVersions } from '../../src/app/sites/readable-versions.ts';
import { ReaderSearch } from '../../src/app/sites/readers-search.ts';
import { searchRequestOf } from '../../src/domain/search.ts';
import {
  NO_FACTS,
  type ResultForm,
  readAnswer,
  type SearchAnswer,
  type SearchRequest,
  type SearchResult,
  type SiteSearch,
  writeAnswer,
} from '../../src/search/index.ts';
import { folderWith, load } from '../config/folder.ts';
import { type Answer, httpServer } from '../helpers/local-server.ts';
import { httpClientOf } from '../net/http-client-of.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});

const NEVER = new AbortController().signal;
const REQUEST = searchRequestOf({ query: 'lantern' });
const FACTS = {
  ...NO_FACTS,
  corrected: 'lantern',
  facets: { languages: ['en', 'de'], versions: [], tags: [] },
  semantic: true,
};

function resultOf(path: string): SearchResult {
  const metadata = { score: 0.5, title: '', headings: [], version: null, language: null, tags: [], highlights: [] };
  return { content: '', path, metadata };
}

interface Site {
  readonly basePath?: string;
  /** Pages that redirect rules with `!` hide. Null for a site without such rules. */
  readonly closed?: readonly string[] | null;
  readonly discoveryUrl?: string | null;
}

/** Creates the search of a site that also keeps version v1. Its index always finds `/open#a` and `/closed`. */
async function readerOf({ basePath = '/docs/', closed = null, discoveryUrl = null }: Site = {}) {
  const requests: { readonly request: SearchRequest; readonly form: ResultForm }[] = [];
  let answer = writeAnswer([]);
  const index = {
    search: async (request: SearchRequest, form: ResultForm): Promise<SearchAnswer> => {
      requests.push({ request, form });
      const results = ['/open#a', '/closed'].map((path) => resultOf(form.root + path));
      answer = writeAnswer(results, request.wantsFacts ? FACTS : undefined);
      return answer;
    },
    switchTo: () => undefined,
    close: () => undefined,
  } as unknown as SiteSearch;
  const pages = { hasForcedRules: closed !== null, isReachable: (path: string) => closed?.includes(path) !== true };
  const client = httpClientOf({});
  closing.push(() => client.close());
  const folder = await folderWith({ key: 'svc_key' });
  const hosted = `{ enabled: true, discoveryUrl: "${discoveryUrl}", keyFile: ${folder}/key }`;
  const { config } = await load(discoveryUrl === null ? '{}' : `features: { search: ${hosted} }`);
  const faults: unknown[] = [];
  const search = new ReaderSearch({
    host: {
      search: { site: () => index },
      versions: new OpenVersions(),
      network: { client: async () => client },
      metrics: { onSearch: () => undefined },
      log: { error: (line: unknown) => faults.push(line) },
    },
    active: index,
    versions: {
      searched: async (version: string) => (version === 'v1' ? { version, digest: 'a', siteDir: '/a/site' } : null),
      at: async () => ({ pages }),
    },
    site: { state: { settings: { config: { config, basePath } }, version: { snapshot: { pages } } } },
    store: { domain: 'acme' },
  } as never);
  const send = (changes: Partial<SearchRequest> = {}) => search.search({ ...REQUEST, ...changes }, NEVER);
  return { send, requests, answered: () => answer };
}

const pathsOf = (answer: SearchAnswer) => readAnswer(answer).results.map(({ path }) => path);
const ofVersion = (version: string) => ({ filter: { ...REQUEST.filter, version } });

describe('ReaderSearch (search of one site for its readers)', () => {
  it('passes the base path of the site to the search thread, and returns the response unchanged', async () => {
    for (const [basePath, root] of [
      ['/', ''],
      ['/docs/', '/docs'],
    ] as const) {
      const { send, requests, answered } = await readerOf({ basePath });
      expect(await send()).toBe(answered());
      expect(requests).toEqual([{ request: REQUEST, form: { root, version: null, source: null } }]);
    }
  });

  it('searches a kept version if the filter selects this version, and otherwise the active version', async () => {
    const { send, requests } = await readerOf();
    expect(pathsOf(await send(ofVersion('v1')))).toEqual([
      '/docs/_docshelf/v/v1/open#a',
      '/docs/_docshelf/v/v1/closed',
    ]);
    await send(ofVersion('v2'));
    expect(requests.map(({ request, form }) => [request.filter.version, form.version])).toEqual([
      [null, 'v1'],
      ['v2', null],
    ]);
  });

  it('removes results that the rules of the site hide, in the active version and in a kept version', async () => {
    const { send } = await readerOf({ closed: ['closed'] });
    expect(readAnswer(await send({ wantsFacts: true }))).toMatchObject({
      results: [{ path: '/docs/open#a' }],
      facts: FACTS,
    });
    expect(pathsOf(await send(ofVersion('v1')))).toEqual(['/docs/_docshelf/v/v1/open#a']);
  });

  it('returns the response of the search thread unchanged if the response contains no hidden page', async () => {
    const { send, answered } = await readerOf({ closed: ['another'] });
    expect(await send()).toBe(answered());
  });

  describe('with a hosted search', () => {
    async function hosted(answer: Answer) {
      const server = await httpServer(answer);
      closing.push(() => server.close());
      return readerOf({ discoveryUrl: server.origin });
    }

    it('returns the results of the service, with paths under the base path and absolute URLs unchanged', async () => {
      const found = [resultOf('/page'), resultOf('https://example.com/page')];
      const { send, requests } = await hosted((_, response) => void response.end(JSON.stringify(found)));
      const answer = await send();
      expect(pathsOf(answer)).toEqual(['/docs/page', 'https://example.com/page']);
      expect(readAnswer(answer).results.map(({ metadata }) => metadata.source)).toEqual(['hosted', 'hosted']);
      expect(requests).toEqual([]);
    });

    it('searches the local index if the hosted search fails, and reports "local" as the source', async () => {
      const { send, requests } = await hosted((_, response) => void response.writeHead(500).end());
      const answer = await send({ wantsFacts: true });
      expect(pathsOf(answer)).toEqual(['/docs/open#a', '/docs/closed']);
      expect(readAnswer(answer).facts).toEqual(NO_FACTS);
      expect(requests).toMatchObject([{ form: { root: '/docs', source: 'local' } }]);
    });
  });
});
