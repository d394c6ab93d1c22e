import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeFileTable } from '../../src/files/index.ts';
import { EmbeddedEngine, SiteSearch } from '../../src/search/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { waitFor } from '../helpers/wait-for.ts';
import { writeFiles } from '../helpers/write-files.ts';

const MIB = 1024 ** 2;
const RELEASE_DIGEST = 'cd'.repeat(32);

let dir: string;
let engine: EmbeddedEngine;
beforeEach(async () => {
  dir = await newFolder();
  start();
});
afterEach(async () => {
  await engine.stop();
});

function start(): void {
  const model = async () => ({ choice: { kind: 'folder' as const, folder: dir }, embedder: null });
  engine = new EmbeddedEngine({ model, cacheDir: join(dir, 'vectors'), memoryBytesMax: 160 * MIB });
}

async function writeRelease(pages: Readonly<Record<string, string>>): Promise<string> {
  const releaseDir = join(dir, 'release');
  const files = Object.entries(pages).map(([path, html]) => {
    return { path, size: Buffer.byteLength(html), sha256: RELEASE_DIGEST, type: 'text/html' };
  });
  await writeFiles(join(releaseDir, 'site'), pages);
  await writeFileTable(releaseDir, files);
  return releaseDir;
}

async function follow(releaseDir: string): Promise<SiteSearch> {
  const search = new SiteSearch({
    index: engine,
    isSemantic: false,
    embedAfterMs: 0,
    onEvent: () => undefined,
  });
  search.switchTo({ digest: RELEASE_DIGEST, releaseDir, trailingSlash: 'never' }, 'v1');
  await waitFor(
    () => (search.status.keyword === 'ready' ? true : null),
    () => JSON.stringify([search.status, search.notices]),
  );
  return search;
}

const page = (text: string): string => `<!doctype html><title>Home</title><main><h1>Home</h1><p>${text}</p></main>`;

it('EmbeddedEngine skips pages that need too much memory, indexes the other pages, and reports the skipped pages, also after a restart', {
  timeout: 120_000,
}, async () => {
  const releaseDir = await writeRelease({
    'a.html': page('Lantern one.'),
    'dense/attributes.html': page('<p a>x</p>'.repeat(300_000)),
    'dense/tags.html': page('<i>a</i>'.repeat(600_000)),
    'z.html': page('Lantern two.'),
  });
  const first = await follow(releaseDir);
  expect(first.status.sections).toBe(2);
  const notice = expect.stringMatching(/omits "dense\/attributes\.html", "dense\/tags\.html".*search\.memory/);
  expect(first.notices).toEqual([notice]);

  await engine.stop();
  start();
  expect((await follow(releaseDir)).notices).toEqual([notice]);
});

it('EmbeddedEngine indexes the beginning of pages with extremely deep nesting, without a restart of the process', {
  timeout: 120_000,
}, async () => {
  const units = ['<div>', '<div><p>x', '<ul><li>x', '<i>a ', '<table><tr><td>x', '<svg><g>'];
  const nested = units.map((unit, at) => [`${at}.html`, page(`Lantern ${at}.${unit.repeat(4_000_000 / unit.length)}`)]);
  const search = await follow(await writeRelease(Object.fromEntries(nested)));
  expect(search.notices).toEqual([]);
  expect(search.status.sections).toBe(units.length);
});

it('EmbeddedEngine gives pages without a clear language the language of the first page with a clear language', {
  timeout: 120_000,
}, async () => {
  const plain = (title: string, text: string): string => `<title>${title}</title><main><h1>${title}</h1><p>${text}</p>`;
  const releaseDir = await writeRelease({
    'a.html': plain('Speichergrenzen', 'Grenzwerte: Arbeitsspeicher, Festplatte.'),
    'b.html': plain(
      'Dienst',
      'Der Dienst wird vor der Aktualisierung angehalten, und danach startet er neu, wenn er kann.',
    ),
  });
  const search = await follow(releaseDir);
  const filter = { version: null, language: null, tag: null };
  const request = { query: 'Speichergrenze', pageSize: 5, scoreThreshold: null, filter, prefixLast: false };
  expect((await search.search(request)).results.map(({ path }) => path)).toEqual(['/a.html']);
});
