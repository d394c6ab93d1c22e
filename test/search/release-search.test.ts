import { dirname } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { searchRequestOf } from '../../src/domain/search.ts';
import type { Embedder } from '../../src/search/ports.ts';
import { ReleaseSearch } from '../../src/search/query/release-search.ts';
import { COMMON_SCALE, VectorIndex } from '../../src/search/semantic/vector-index.ts';
import { indexPath, writeIndex } from './keyword/index-folder.ts';
import { memoryRows } from './semantic/memory-rows.ts';

const DIMS = 32;
const REQUEST = searchRequestOf({ query: 'rotate keys' });
const like = (sign: number) => new Float32Array(DIMS).fill(sign / Math.sqrt(DIMS));

/**
 * Section 0 has two passages. The second one is close to each query and contains fewer of its words. Section 2 is found only by
 * meaning.
 */
const SECTIONS = [
  {
    title: 'Keys',
    text: 'Rotate keys: rotate all keys.\n\nA key is replaced.',
    passages: [0, 29, 31, 49],
    signs: [-1, 1],
  },
  { title: 'Rotate keys', headings: ['Rotate keys', 'Keys of services'], text: '', passages: [0, 0], signs: [-1] },
  { title: 'Invoices', text: 'They come by mail.', passages: [0, 18], signs: [1] },
];

/** A release, and a model that returns its vectors on request. */
async function openRelease() {
  const path = indexPath();
  writeIndex(
    path,
    SECTIONS.map(({ passages: _, signs: __, ...section }) => section),
    (number) => {
      const borders = SECTIONS[number]?.passages ?? [];
      return Array.from({ length: borders.length / 2 }, (_, at) => {
        return { start: borders[2 * at] ?? 0, end: borders[2 * at + 1] ?? 0 };
      });
    },
  );
  const release = new ReleaseSearch(dirname(path));
  onTestFinished(() => release.close());

  const pending: PromiseWithResolvers<Float32Array>[] = [];
  const embedder: Embedder = {
    digest: '',
    dims: DIMS,
    reads: () => true,
    embedQuery: () => {
      const answer = Promise.withResolvers<Float32Array>();
      pending.push(answer);
      return answer.promise;
    },
    embedPassages: async () => [],
  };
  const signs = SECTIONS.flatMap((section) => section.signs);
  const values = Int8Array.from(signs.flatMap((sign) => Array.from({ length: DIMS }, () => sign * 90)));
  const sections = Uint32Array.from(SECTIONS.flatMap((section, at) => section.signs.map(() => at)));
  const vectors = new VectorIndex(memoryRows(values, DIMS, sections), COMMON_SCALE);
  const semantic = { digest: '', revision: 1, load: async () => ({ embedder, vectors }) };
  const search = (query = REQUEST.query, isExplained = false) =>
    release.search({ ...REQUEST, query, ...(isExplained && { isExplained }) }, 'v1', semantic);
  return { search, pending };
}

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

describe('ReleaseSearch (search of one release)', () => {
  it('shows the passage nearest in meaning, or the heading of a section without text', async () => {
    const { search, pending } = await openRelease();
    const searching = search();
    await turns(1);
    pending[0]?.resolve(like(1));
    const results = await searching;
    const shown = Object.fromEntries(results.map(({ path, content }) => [path, content]));
    expect(shown).toEqual({ '/p0': 'A key is replaced.', '/p1': 'Keys of services', '/p2': 'They come by mail.' });
    const [key] = results.find(({ path }) => path === '/p0')?.metadata.highlights ?? [];
    expect('A key is replaced.'.slice(key?.start, key?.end)).toBe('key');
  });

  it('shows a passage with the words of the query if the nearest passage has none', async () => {
    const { search, pending } = await openRelease();
    const searching = search('rotate');
    await turns(1);
    pending[0]?.resolve(like(1));
    const first = (await searching).find(({ path }) => path === '/p0');
    expect(first?.content).toBe('Rotate keys: rotate all keys.');
  });

  it('shows the passage with the most query words if the model fails', async () => {
    const { search, pending } = await openRelease();
    const searching = search();
    await turns(1);
    pending[0]?.reject(new Error('no answer'));
    const first = (await searching).find(({ path }) => path === '/p0');
    expect(first?.content).toBe('Rotate keys: rotate all keys.');
    expect(first?.metadata.highlights).toHaveLength(4);
  });

  it('finds no section by meaning for a code that the site lacks', async () => {
    const { search, pending } = await openRelease();
    const searching = search('rotate9999');
    await turns(1);
    pending[0]?.resolve(like(1));
    expect(await searching).toEqual([]);
  });

  it('adds the reasons for each score if the request asks for them, without any other change of the results', async () => {
    const { search, pending } = await openRelease();
    const both = [search(), search(REQUEST.query, true)];
    await turns(1);
    for (const { resolve } of pending) resolve(like(1));
    const [plain = [], explained = []] = await Promise.all(both);
    expect(explained.map(({ reasons: _, ...result }) => result)).toEqual(plain);
    expect(plain.some((result) => 'reasons' in result)).toBe(false);
    const of = Object.fromEntries(explained.map(({ path, reasons }) => [path, reasons]));
    expect(of['/p1']).toMatchObject({ exact: 'title', lift: 9.1, meaning: 0, places: ['title', 'headings'] });
    expect(of['/p0']).toMatchObject({ exact: null, lift: 0, places: ['title', 'text'] });
    expect(of['/p2']).toMatchObject({ words: 0, places: [] });
    expect(of['/p2']?.meaning).toBeGreaterThan(1.5);
    const sums = explained.map(({ reasons }) => (reasons ? reasons.words + (reasons.meaning ?? 0) + reasons.lift : 0));
    expect(sums).toEqual(sums.toSorted((a, b) => b - a));
  });
});

describe('ReleaseSearch, excerpts of sections with code', () => {
  it('returns the positions of code in the excerpt, in linear time for very many passages and code blocks', async () => {
    const count = 20_000;
    const text = `rotate ${'a b '.repeat(count)}keys x`;
    const code = Array.from({ length: count }, (_, at) => ({ start: 4 * at + 7, end: 4 * at + 8 }));
    const passages = [
      ...code.map(({ start }) => ({ start, end: start + 3 })),
      { start: 4 * count + 3, end: text.length },
    ];
    const startedAt = process.cpuUsage();
    const [result] = await resultsOf([{ text, code, title: 'T' }], 'rotate keys', () => passages);
    expect(process.cpuUsage(startedAt).user / 1000).toBeLessThan(2_000);
    expect(result?.content).toBe('a b keys x');
    expect(result?.metadata.code).toEqual([{ start: 0, end: 1 }]);
  });
});

/** Results of a search by keywords in these sections. */
async function resultsOf(
  sections: Parameters<typeof writeIndex>[1],
  query: string,
  passagesOf?: Parameters<typeof writeIndex>[2],
) {
  const path = indexPath();
  writeIndex(path, sections, passagesOf);
  const release = new ReleaseSearch(dirname(path));
  onTestFinished(() => release.close());
  return release.search(searchRequestOf({ query }), 'v1', null);
}

it('ReleaseSearch shows the passage with most words of the query, and counts inflections of a word once', async () => {
  const text = 'An index. Indexes are files.\n\nOther text.\n\nBuild the index now.';
  const passages = [
    { start: 0, end: 28 },
    { start: 30, end: 41 },
    { start: 43, end: text.length },
  ];
  const passagesOf = (number: number) => (number === 0 ? passages : []);
  const [first] = await resultsOf([{ text }, { text: 'other' }], 'build index', passagesOf);
  expect(first?.content).toBe('Build the index now.');
});

it('ReleaseSearch shows the first passage if the words of the query are after two million characters', async () => {
  const text = `${'filler text. '.repeat(160_000)}Build the index now.`;
  const passages = Array.from({ length: Math.ceil(text.length / 520) }, (_, at) => {
    return { start: at * 520, end: Math.min((at + 1) * 520, text.length) };
  });
  const passagesOf = (number: number) => (number === 0 ? passages : []);
  const [first] = await resultsOf([{ text }, { text: 'other' }], 'build index', passagesOf);
  expect(first?.content).toBe(text.slice(0, 520));
});

it('ReleaseSearch ranks the section whose heading is the query above other sections of the page', async () => {
  const section = (heading: string, text: string) => {
    return { page: '/p', path: `/p#${heading}`, headings: ['Routes', heading], text };
  };
  const sections = [
    section('Dynamic routes', 'One file can create many pages.'),
    section('Several values', 'Dynamic routes: dynamic routes can have dynamic routes with several values.'),
    { text: 'other' },
    { text: 'more' },
  ];
  const [first] = await resultsOf(sections, 'dynamic routes');
  expect(first?.path).toBe('/p#Dynamic routes');
});

it('ReleaseSearch ranks the section that defines a method above its subsections', async () => {
  const section = (headings: readonly string[], text: string) => {
    return { page: '/p', path: `/p#${headings.at(-1)}`, title: 'Request', headings: ['Request', ...headings], text };
  };
  const sections = [
    section(['parseBody()', 'Several files'], 'await c.req.parseBody() and c.req.parseBody() and c.req.parseBody()'),
    section(['parseBody()'], 'A long text about bodies of requests, in which c.req.parseBody() occurs only once.'),
    { text: 'other' },
  ];
  const [first] = await resultsOf(sections, 'c.req.parseBody');
  expect(first?.path).toBe('/p#parseBody()');
});

it('ReleaseSearch shows readers one result for headings that share the link of an id', async () => {
  const section = (path: string, text: string) => ({ page: '/p', path, headings: ['Themes'], text });
  const sections = [
    section('/p#editor', 'Rotate the colours.'),
    section('/p#editor', 'Rotate, rotate.'),
    section('/p', 'Rotate the page.'),
    section('/p', 'Rotate the screen.'),
  ];
  const path = indexPath();
  writeIndex(path, [...sections, { text: 'Other words.' }]);
  const release = new ReleaseSearch(dirname(path));
  onTestFinished(() => release.close());
  const pathsOf = async (wantsFacts: boolean) =>
    (await release.search({ ...searchRequestOf({ query: 'rotate', pageSize: 4 }), wantsFacts }, 'v1', null))
      .map((result) => result.path)
      .toSorted();
  expect(await pathsOf(true)).toEqual(['/p', '/p', '/p#editor']);
  expect(await pathsOf(false)).toEqual(['/p', '/p', '/p#editor', '/p#editor']);
});

describe('ReleaseSearch over several versions of a page', () => {
  const page = (path: string, version: string | null, text: string, more: object = {}) => ({
    ...{ page: path, path: `${path}#rotate`, title: 'Keys', headings: ['Keys', 'Rotate'], text, version },
    ...more,
  });
  const SAME = 'Rotate the signing keys of a service.';

  async function pathsOf(sections: Parameters<typeof writeIndex>[1], more: object = {}): Promise<string[]> {
    const path = indexPath();
    writeIndex(path, [...sections, { text: 'Other words.' }, { text: 'More words.' }]);
    const release = new ReleaseSearch(dirname(path));
    onTestFinished(() => release.close());
    const request = searchRequestOf({ query: 'rotate signing keys', ...more });
    return (await release.search(request, 'label', null)).map((result) => result.path);
  }

  it('returns the page once, in its newest released version', async () => {
    const versions = ['1.0', '2.0', '10.1', 'next'].map((name) => page(`/docs/${name}/keys`, name, SAME));
    expect(await pathsOf(versions)).toEqual(['/docs/10.1/keys#rotate']);
    expect(await pathsOf([...versions, page('/docs/keys', 'current', SAME)])).toEqual(['/docs/keys#rotate']);
    expect(await pathsOf([...versions, page('/docs/latest/keys', 'latest', SAME)])).toEqual([
      '/docs/latest/keys#rotate',
    ]);
  });

  it('returns an older version of a page if only the older version contains the words of the query', async () => {
    const sections = [
      page('/1.0/keys', '1.0', SAME),
      page('/2.0/keys', '2.0', 'Keys are gone. See tokens and services.'),
    ];
    expect((await pathsOf(sections))[0]).toBe('/1.0/keys#rotate');
  });

  it('returns the page in the version that the filter selects', async () => {
    const sections = ['1.0', '2.0'].map((name) => page(`/${name}/keys`, name, SAME));
    expect(await pathsOf(sections, { filter: { version: '1.0' } })).toEqual(['/1.0/keys#rotate']);
  });

  it('returns separate results for different pages, languages and sections of one version', async () => {
    const sections = [
      page('/1.0/keys', '1.0', SAME),
      page('/2.0/keys', '2.0', SAME),
      page('/2.0/keys', '2.0', `${SAME} Again.`, { path: '/2.0/keys#again' }),
      page('/2.0/more', '2.0', `${SAME} More.`),
      page('/2.0/keys', '2.0', SAME, { language: 'de', path: '/2.0/keys#de' }),
    ];
    expect((await pathsOf(sections)).sort()).toEqual([
      '/2.0/keys#again',
      '/2.0/keys#de',
      '/2.0/keys#rotate',
      '/2.0/more#rotate',
    ]);
  });
});

it('ReleaseSearch ranks a change log after another page that matches the query less closely', async () => {
  const path = indexPath();
  const text = 'Rotate the signing keys of a service.';
  writeIndex(path, [
    { path: '/changes', title: 'Changes', text, prior: -1 },
    { path: '/keys', title: 'Keys', text: `${text} The service reads the keys again after some minutes.` },
    { text: 'Other words.' },
    { text: 'More words.' },
  ]);
  const release = new ReleaseSearch(dirname(path));
  onTestFinished(() => release.close());
  const pathsOf = async (query: string) =>
    (await release.search(searchRequestOf({ query }), 'label', null)).map((result) => result.path);
  expect(await pathsOf('rotate signing keys')).toEqual(['/keys', '/changes']);
  expect((await pathsOf('changes'))[0]).toBe('/changes');
});
