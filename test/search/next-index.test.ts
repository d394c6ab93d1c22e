import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileTable } from '../../src/files/index.ts';
import { buildIndex } from '../../src/search/indexing/build-index.ts';
import { readSectionFacts } from '../../src/search/indexing/section-facts.ts';
import { FormerIndex, KeywordIndex } from '../../src/search/keyword/index.ts';
import { sha256Of } from '../acceptance/bundles.ts';
import { runs } from '../helpers/runs.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'docshelf-next-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

type Pages = Readonly<Record<string, string>>;
let built = 0;

/** @returns its search folder */
async function build(pages: Pages, formerDir: string | null, isFormerChecked = false): Promise<string> {
  const releaseDir = join(dir, `${built++}`);
  await mkdir(join(releaseDir, 'site'), { recursive: true });
  const files = [];
  for (const path of Object.keys(pages).sort()) {
    const html = pages[path] ?? '';
    await writeFile(join(releaseDir, 'site', path), html);
    files.push({ path, size: html.length, sha256: sha256Of(html), type: 'text/html' });
  }
  await writeFileTable(releaseDir, files);
  const searchDir = join(releaseDir, 'search');
  await buildIndex({
    releaseDir,
    searchDir,
    trailingSlash: 'never',
    modelFolder: null,
    usesCarried: false,
    leftOut: [],
    threadsMax: 0,
    formerDir,
    isFormerChecked,
  });
  return searchDir;
}

const WORDS = 'lantern oil wick maxRetryCount server.port rotate rotates keys Schlüssel 検索 検索語 v2 the of'.split(
  ' ',
);
const QUERIES = [
  ...WORDS,
  ...[
    'lantern oil',
    'rotate keys',
    '"oil lantern"',
    'oil -wick',
    'lantren',
    'rot',
    'keys rotate the server.port',
    'Home',
    'All of it',
  ],
];

/** All that a query can see, as JSON. */
async function seenIn(searchDir: string): Promise<unknown[]> {
  const index = KeywordIndex.open(join(searchDir, 'keyword.sqlite'));
  try {
    const facts = await readSectionFacts(searchDir, index.count);
    const sections = Array.from({ length: index.count }, (_, number) => {
      return [index.section(number), facts.language(number), facts.passages(number)];
    });
    const answers = QUERIES.flatMap((query) =>
      [{}, { language: 'en' }, { version: '2', orUnsaid: true }, { tag: 'guide' }].map((filter) => {
        const { hits, known, allowed, matchedIn } = index.find(query, { limit: 100, prefixLast: true, filter });
        return { query, hits, known, allowed, matched: hits.map(({ section }) => matchedIn(section)) };
      }),
    );
    return [sections, [...index.priors], answers];
  } finally {
    index.close();
  }
}

function termsWithSeveralRows(searchDir: string, fromRun: number): unknown[] {
  const database = new DatabaseSync(join(searchDir, 'keyword.sqlite'), { readOnly: true });
  try {
    return database
      .prepare('SELECT term FROM postings WHERE run >= ? GROUP BY term HAVING count(*) > 1')
      .all(fromRun)
      .map(({ term }) => term);
  } finally {
    database.close();
  }
}

const placesIn = (searchDir: string): number | undefined => FormerIndex.open(join(searchDir, 'keyword.sqlite'))?.places;

const text = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 8 }).map((words) => words.join(' '));
const page = fc
  .record({
    title: fc.constantFrom('Home', 'Guide', 'Rotate keys', 'All of it'),
    documentTitle: fc.constantFrom('Home', 'Handbook', 'All of it'),
    language: fc.constantFrom('en', 'de', 'en-GB', null),
    version: fc.constantFrom('1', '2', null),
    sections: fc.array(fc.record({ heading: fc.constantFrom('Oil', 'Keys', 'Server'), text }), { maxLength: 3 }),
    links: fc.array(fc.constantFrom('a.html', 'b.html', 'c.html', 'd.html'), { maxLength: 3 }),
    canonical: fc.constantFrom('a', 'b', null),
  })
  .map(({ title, documentTitle, language, version, sections, links, canonical }) => {
    const below = sections.map(({ heading, text }, at) => `<h2 id="s${at}">${heading}</h2><p>${text}</p>`);
    const lang = language === null ? '' : ` lang="${language}"`;
    const head = [
      version === null ? '' : `<meta name="docsearch:version" content="${version}">`,
      canonical === null ? '' : `<link rel="canonical" href="https://docs.example/${canonical}">`,
    ];
    const to = links.map((link) => `<a href="${link}">more</a>`);
    return `<!doctype html><html${lang}><head><title>${documentTitle}</title>${head.join('')}</head><body><main><h1>${title}</h1>${below.join('')}<p>Read ${to.join(' ')}</p></main></body></html>`;
  });
const PATHS = ['a.html', 'b.html', 'c.html', 'd.html', 'e.html', 'f.html'];
const edit = fc.record({
  path: fc.constantFrom(...PATHS),
  to: fc.option(page),
  from: fc.option(fc.constantFrom(...PATHS)),
});

/** A page is written, removed (`to` null), or moved there from elsewhere. */
function edited(pages: Pages, edits: readonly { path: string; to: string | null; from: string | null }[]): Pages {
  const next: Record<string, string> = { ...pages };
  for (const { path, to, from } of edits) {
    const moved = from === null ? undefined : next[from];
    if (from !== null) delete next[from];
    const html = moved ?? to;
    if (html === null) delete next[path];
    else next[path] = html;
  }
  return next;
}

const pageOn = (text: string): string => `<html><body><main><h1>Oil</h1><p>${text}</p></main></body></html>`;

describe('the index of a next version', () => {
  it('answers as one that is written whole, after any edits of any number of versions', {
    timeout: 600_000,
  }, async () => {
    const sites = fc.tuple(
      fc.array(page, { minLength: 4, maxLength: 6 }),
      fc.array(fc.array(edit, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 3 }),
    );
    let patched = 0;
    await fc.assert(
      fc.asyncProperty(sites, async ([first, versions]) => {
        let pages: Pages = Object.fromEntries(first.map((html, at) => [PATHS[at] ?? '', html]));
        let former = await build(pages, null);
        for (const edits of versions) {
          pages = edited(pages, edits);
          const next = await build(pages, former);
          const whole = await build(pages, null);
          expect(await seenIn(next)).toEqual(await seenIn(whole));
          if ((placesIn(next) ?? 0) > (placesIn(whole) ?? 0)) patched += 1;
          former = next;
        }
      }),
      { numRuns: runs(25) },
    );
    expect(patched).toBeGreaterThan(5);
  });

  it('is written whole, with nothing of the former beside it, where too much is new', async () => {
    const former = await build({ 'a.html': pageOn('lantern'), 'b.html': pageOn('server') }, null);
    const next = await build({ 'a.html': pageOn('wick'), 'b.html': pageOn('keys') }, former);
    expect(readdirSync(next).sort()).toEqual(readdirSync(former).sort());
  });

  it('writes a term once, where it joins in some sections and leaves others', async () => {
    const pages = { 'a.html': pageOn('lantern wick'), 'b.html': pageOn('server'), 'c.html': pageOn('keys') };
    const former = await build(pages, null);
    const next = await build({ ...pages, 'a.html': pageOn('lantern and wick') }, former);
    expect(termsWithSeveralRows(next, 1)).toEqual([]);
    expect(await seenIn(next)).toEqual(
      await seenIn(await build({ ...pages, 'a.html': pageOn('lantern and wick') }, null)),
    );
  });

  it.each([true, false])(
    'is written whole where the former is damaged, whether it was whole before (%s)',
    async (was) => {
      const pages = { 'a.html': pageOn('lantern'), 'b.html': pageOn('server'), 'c.html': pageOn('keys') };
      const former = await build(pages, null);
      const file = join(former, 'keyword.sqlite');
      const bytes = readFileSync(file, 'latin1');
      expect(bytes).toContain('["Oil"]');
      writeFileSync(file, bytes.replaceAll('["Oil"]', '["Oil")'), 'latin1');
      const edited = { ...pages, 'a.html': pageOn('wick') };
      const next = await build(edited, former, was);
      expect(readdirSync(next).sort()).toEqual(readdirSync(former).sort());
      expect(await seenIn(next)).toEqual(await seenIn(await build(edited, null)));
    },
  );

  it('takes nothing from a file over a base that has changed since it was found whole', async () => {
    const pages = {
      'a.html': pageOn('lantern'),
      'b.html': pageOn('server'),
      'c.html': pageOn('keys'),
      'd.html': pageOn('the'),
    };
    const second = { ...pages, 'b.html': pageOn('Zebra') };
    const former = await build(second, await build(pages, null));
    expect(readdirSync(former)).toContain('keyword.sqlite-base');
    const file = join(former, 'keyword.sqlite');
    writeFileSync(file, readFileSync(file, 'latin1').replaceAll('Zebra', 'Qebra'), 'latin1');
    const third = { ...second, 'd.html': pageOn('wick') };
    const next = await build(third, former, true);
    expect(await seenIn(next)).toEqual(await seenIn(await build(third, null)));
  });
});
