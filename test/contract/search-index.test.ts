import { readdir, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DocshelfError } from '../../src/domain/errors.ts';
import {
  EmbeddedEngine,
  type IndexedRelease,
  readAnswer,
  type SearchIndex,
  type SearchRequest,
} from '../../src/search/index.ts';
import type { EmbedProgress } from '../../src/search/ports.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { watchThreads } from '../helpers/watch-threads.ts';
import { writeRelease } from '../search/searched-site.ts';

/** Contract of each SearchIndex (src/search/ports.ts), for all kinds. */
interface Subject {
  readonly index: SearchIndex;
  /** Makes the index of a release unusable, like a damaged disk. */
  damage(release: IndexedRelease): Promise<void>;
  stop(): Promise<void>;
  /** Number of threads or connections that keep the process alive. */
  alive(): number;
}

const MODEL = join(import.meta.dirname, '../../models/all-MiniLM-L6-v2');

function embeddedSubject(folder: string): Subject {
  const threads = watchThreads();
  const engine = new EmbeddedEngine({
    model: async () => ({ choice: { kind: 'folder', folder: MODEL }, embedder: null }),
    cacheDir: join(folder, 'vectors'),
    memoryBytesMax: 384 * 1024 ** 2,
  });
  const damage = (release: IndexedRelease) => truncate(join(release.releaseDir, 'search/keyword.sqlite'), 5000);
  return { index: engine, damage, stop: () => engine.stop(), alive: threads.alive };
}

const NEVER = new AbortController().signal;
const LABEL = '2024-06-01';

const page = (title: string, text: string, { lang = 'en', meta = '' } = {}): string =>
  `<!doctype html><html lang="${lang}"><head><title>${title}</title>${meta}</head>
   <body><main><h1>${title}</h1><p>${text}</p></main></body></html>`;

const SITE: Readonly<Record<string, string>> = {
  'index.html': page('Welcome', 'The manual of the lighthouse and its lantern.'),
  'cars.html': page('Cars', 'Fixing the engine of a vehicle in the garage.'),
  'bread.html': page('Bread', 'Knead the dough, let it rise and bake it in the oven.'),
  'old.html': page('Lantern 1', 'The lantern of the first lighthouse burns oil.', {
    meta: '<meta name="docsearch:version" content="1.0">',
  }),
  'farol.html': page('Farol', 'A lantern no farol brasileiro.', { lang: 'pt-BR' }),
  'invoices.html': page('Invoices', 'A lantern is paid by invoice.', {
    meta: '<meta name="keywords" content="billing">',
  }),
};
const LANTERN_PATHS = ['/', '/farol.html', '/invoices.html', '/old.html'];

function searchRequest(query: string, changes: Partial<SearchRequest> = {}): SearchRequest {
  const filter = { version: null, language: null, tag: null };
  return { query, pageSize: 10, scoreThreshold: null, prefixLast: false, filter, ...changes };
}

function filtered(filter: Partial<SearchRequest['filter']>): SearchRequest {
  return searchRequest('lantern', { filter: { version: null, language: null, tag: null, ...filter } });
}

describe.each([['EmbeddedEngine', embeddedSubject]] as const)('search engine %s', (_name, open) => {
  let folder: string;
  let subject: Subject;
  /** An open release of SITE that no test changes. */
  let release: IndexedRelease;
  let made = 0;

  beforeAll(async () => {
    folder = newFolder();
    subject = open(folder);
    release = await opened();
  });
  afterAll(async () => {
    await subject.stop();
  });

  async function write(site: Readonly<Record<string, string>>): Promise<IndexedRelease> {
    made += 1;
    const digest = String(made).padStart(64, '0');
    return writeRelease(join(folder, digest), digest, site);
  }

  /** A release with a built and open index. */
  async function opened(site: Readonly<Record<string, string>> = SITE): Promise<IndexedRelease> {
    const release = await write(site);
    await subject.index.build(release, NEVER);
    await subject.index.open(release);
    return release;
  }

  async function results(release: IndexedRelease, request: SearchRequest) {
    return readAnswer(await subject.index.search(release, request, LABEL)).results;
  }

  async function paths(release: IndexedRelease, request: SearchRequest): Promise<string[]> {
    return (await results(release, request)).map(({ path }) => path.replace(/#.*$/, ''));
  }

  const codeOf = (promise: Promise<unknown>): Promise<string> =>
    promise.then(
      () => 'none',
      (error: DocshelfError) => error.code,
    );

  test('builds an index that can be opened and searched, and leaves no temporary file', async () => {
    const built = await subject.index.open(release);
    expect(built.sections).toBe(Object.keys(SITE).length);
    expect((await readdir(release.releaseDir)).sort()).toEqual(['files.table', 'search', 'site']);
    const [first, ...rest] = await results(release, searchRequest('knead dough'));
    expect(rest).toEqual([]);
    expect(first?.path).toMatch(/^\/bread\.html(?:#|$)/);
    expect(first?.content).toContain('Knead the dough');
    expect(first?.metadata).toMatchObject({ title: 'Bread', language: 'en', version: null, tags: [] });
    const marked = first?.metadata.highlights.map(({ start, end }) => first.content.slice(start, end));
    expect(marked).toEqual(['Knead', 'dough']);
  });

  test('filters by the version of a page, or by the version label of the release for pages without a version', async () => {
    expect((await paths(release, searchRequest('lantern'))).sort()).toEqual(LANTERN_PATHS);
    expect(await paths(release, filtered({ version: '1.0' }))).toEqual(['/old.html']);
    expect((await paths(release, filtered({ version: LABEL }))).sort()).toEqual(['/', '/farol.html', '/invoices.html']);
    expect(await paths(release, filtered({ version: '9.9' }))).toEqual([]);
  });

  test('filters by a language with its regions, and by a tag', async () => {
    expect(await paths(release, filtered({ language: 'pt' }))).toEqual(['/farol.html']);
    expect(await paths(release, filtered({ language: 'PT-br' }))).toEqual(['/farol.html']);
    expect(await paths(release, filtered({ language: 'pt-PT' }))).toEqual([]);
    expect(await paths(release, filtered({ tag: 'billing' }))).toEqual(['/invoices.html']);
    expect(await paths(release, filtered({ tag: 'billing', language: 'pt' }))).toEqual([]);
  });

  test('returns at most pageSize results, by descending score, and omits results under scoreThreshold', async () => {
    const scores = (await results(release, searchRequest('lantern'))).map(({ metadata }) => metadata.score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect(scores.every((score) => score >= 0 && score <= 1)).toBe(true);
    expect(await paths(release, searchRequest('lantern', { pageSize: 2 }))).toHaveLength(2);
    const threshold = scores[1] ?? 1;
    const kept = scores.filter((score) => score >= threshold).length;
    expect(await paths(release, searchRequest('lantern', { scoreThreshold: threshold }))).toHaveLength(kept);
    expect(await paths(release, searchRequest('lantern', { scoreThreshold: 1 }))).toHaveLength(
      scores.filter((score) => score === 1).length,
    );
  });

  test('reports a missing or damaged index as index_damaged, and builds it again', async () => {
    const release = await write(SITE);
    expect(await codeOf(subject.index.open(release))).toBe('index_damaged');
    await subject.index.build(release, NEVER);
    await subject.damage(release);
    expect(await codeOf(subject.index.open(release))).toBe('index_damaged');
    expect(await codeOf(subject.index.search(release, searchRequest('lantern'), LABEL))).toBe('index_damaged');
    await subject.index.build(release, NEVER);
    await subject.index.open(release);
    expect(await paths(release, searchRequest('dough'))).toEqual(['/bread.html']);
  });

  test('searches two releases separately, also while one release is rebuilt, and closes them separately', async () => {
    const first = release;
    const second = await opened({ 'bread.html': page('Rye bread', 'Sourdough takes a night.') });
    expect(await paths(first, searchRequest('sourdough night'))).toEqual([]);
    expect(await paths(second, searchRequest('lantern'))).toEqual([]);

    const changed = page('Rolls', 'Rolls are done in a quarter of an hour.');
    await writeFile(join(second.releaseDir, 'site/bread.html'), changed);
    const building = subject.index.build(second, NEVER);
    expect(await paths(first, searchRequest('dough'))).toEqual(['/bread.html']);
    await building;
    await subject.index.open(second);
    expect(await paths(second, searchRequest('rolls'))).toEqual(['/bread.html']);
    expect(await paths(second, searchRequest('sourdough'))).toEqual([]);

    await subject.index.close(second);
    await subject.index.close(second);
    expect(await codeOf(subject.index.search(second, searchRequest('rolls'), LABEL))).toBe('index_damaged');
    expect(await paths(first, searchRequest('dough'))).toEqual(['/bread.html']);
  });

  test('throws the reason of the signal if a build is aborted, and keeps the previous index', async () => {
    const release = await opened();
    const abort = new AbortController();
    const building = subject.index.build(release, abort.signal);
    setImmediate(() => abort.abort(new Error('enough')));
    await expect(building).rejects.toThrow('enough');
    expect((await readdir(release.releaseDir)).sort()).toEqual(['files.table', 'search', 'site']);
    await subject.index.open(release);
    expect(await paths(release, searchRequest('dough'))).toEqual(['/bread.html']);
  });

  test('finds pages by related words that the pages do not contain if the release has vectors', async () => {
    const question = searchRequest('automobile repair');
    expect(await paths(release, question)).toEqual([]);
    const reported: EmbedProgress[] = [];
    await subject.index.embed(release, (progress) => reported.push(progress), NEVER);
    const passages = Object.keys(SITE).length;
    expect(reported.at(-1)).toEqual({ passages, embedded: passages });
    // The first query by meaning waits for the model while the release is closed.
    const pending = codeOf(subject.index.search(release, question, LABEL));
    await subject.index.close(release);
    expect(['none', 'index_damaged']).toContain(await pending);
    expect(await codeOf(subject.index.search(release, question, LABEL))).toBe('index_damaged');

    await subject.index.open(release);
    await subject.index.embed(release, () => undefined, NEVER);
    expect((await paths(release, question))[0]).toBe('/cars.html');
    const french = searchRequest(question.query, { filter: { version: null, language: 'fr', tag: null } });
    expect(await paths(release, french)).toEqual([]);
  });

  test('throws the reason of the signal if embedding is aborted, and continues at the next call of embed()', async () => {
    // So many that progress is reported several times before the last passage, also on a fast machine.
    const passages = 160;
    const pages = Array.from({ length: passages }, (_, n) => [`p${n}.html`, page(`Page ${n}`, `Chapter ${n} of it.`)]);
    const other = open(folder);
    const large = await write(Object.fromEntries(pages) as Record<string, string>);
    await other.index.build(large, NEVER);
    await other.index.open(large);
    const abort = new AbortController();
    let before = 0;
    const first = other.index.embed(
      large,
      ({ embedded }) => {
        // Work that was running may still report.
        if (!abort.signal.aborted) before = embedded;
        if (embedded > 0) abort.abort(new Error('enough'));
      },
      abort.signal,
    );
    await expect(first).rejects.toThrow('enough');
    expect(before).toBeLessThan(passages);

    const resumed = Promise.withResolvers<EmbedProgress>();
    const embedding = codeOf(other.index.embed(large, resumed.resolve, NEVER));
    expect(await resumed.promise).toMatchObject({ passages });
    expect((await resumed.promise).embedded).toBeGreaterThanOrEqual(before);
    const building = codeOf(other.index.build(await write(SITE), NEVER));
    expect(other.alive()).toBeGreaterThan(0);
    await other.stop();
    expect(other.alive()).toBe(0);
    expect(await Promise.all([embedding, building])).toEqual(['stopping', 'stopping']);
    expect(await codeOf(other.index.search(large, searchRequest('chapter'), LABEL))).toBe('stopping');
    expect(other.alive()).toBe(0);
  });

  test('accepts stop() if no work is in progress', async () => {
    const idle = open(folder);
    await idle.stop();
    expect(idle.alive()).toBe(0);
  });
});
