import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { searchRequestOf } from '../../src/domain/search.ts';
import { type EmbeddedEngine, type IndexedRelease, readAnswer, type SiteSearch } from '../../src/search/index.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { engineOf, searchOf, writeRelease } from './searched-site.ts';

const MIB = 1024 ** 2;
const RELEASE_DIGEST = 'cd'.repeat(32);

let dir: string;
let engine: EmbeddedEngine;
beforeEach(async () => {
  dir = newFolder();
  start();
});
afterEach(async () => {
  await engine.stop();
});

function start(): void {
  engine = engineOf(join(dir, 'vectors'), dir, { memoryBytesMax: 160 * MIB });
}

const releaseOf = (pages: Readonly<Record<string, string>>) =>
  writeRelease(join(dir, 'release'), RELEASE_DIGEST, pages);

async function follow(release: IndexedRelease): Promise<SiteSearch> {
  const { search, until } = searchOf(engine);
  search.switchTo(release, 'v1');
  await until('keyword');
  return search;
}

const page = (text: string): string => `<!doctype html><title>Home</title><main><h1>Home</h1><p>${text}</p></main>`;

it('EmbeddedEngine (built-in search engine) skips pages that need too much memory, and names the skipped pages in a notice for the operator', {
  timeout: 120_000,
}, async () => {
  const release = await releaseOf({
    'a.html': page('Lantern one.'),
    'dense/attributes.html': page('<p a>x</p>'.repeat(300_000)),
    'dense/tags.html': page('<i>a</i>'.repeat(600_000)),
    'z.html': page('Lantern two.'),
  });
  const first = await follow(release);
  expect(first.status.sections).toBe(2);
  const notice = expect.stringMatching(/omits "dense\/attributes\.html", "dense\/tags\.html".*search\.memory/);
  expect(first.notices).toEqual([notice]);

  await engine.stop();
  start();
  expect((await follow(release)).notices).toEqual([notice]);
});

it('EmbeddedEngine (built-in search engine) indexes the beginning of pages with extremely deep nesting, without a restart of the process', {
  timeout: 120_000,
}, async () => {
  const units = ['<div>', '<div><p>x', '<ul><li>x', '<i>a ', '<table><tr><td>x', '<svg><g>'];
  const nested = units.map((unit, at) => [`${at}.html`, page(`Lantern ${at}.${unit.repeat(4_000_000 / unit.length)}`)]);
  const search = await follow(await releaseOf(Object.fromEntries(nested)));
  expect(search.notices).toEqual([]);
  expect(search.status.sections).toBe(units.length);
});

it('EmbeddedEngine (built-in search engine) gives pages without a clear language the language of the first page with a clear language', {
  timeout: 120_000,
}, async () => {
  const plain = (title: string, text: string): string => `<title>${title}</title><main><h1>${title}</h1><p>${text}</p>`;
  const release = await releaseOf({
    'a.html': plain('Speichergrenzen', 'Grenzwerte: Arbeitsspeicher, Festplatte.'),
    'b.html': plain(
      'Dienst',
      'Der Dienst wird vor der Aktualisierung angehalten, und danach startet er neu, wenn er kann.',
    ),
  });
  const search = await follow(release);
  const { results } = readAnswer(await search.search(searchRequestOf({ query: 'Speichergrenze' })));
  expect(results.map(({ path }) => path)).toEqual(['/a.html']);
});
