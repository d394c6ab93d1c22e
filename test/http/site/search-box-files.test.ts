import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { searchBoxFiles } from '../../../src/http/site/search-box-files.ts';
import { searchBoxAdditions } from '../../../src/serve/additions.ts';
import { addToPage } from '../../../src/web/additions/add-to-page.ts';

const KIB = 1024;
/** Without scripts and links of its own that would make what is added seem smaller. */
const PAGE = `<!doctype html><html lang="de"><title>Seite</title><h1>Seite</h1><p>${'Ein paar Wörter mehr. '.repeat(20)}</p></html>`;

/** What a page is more to send by the loader's element. */
function brotliGrowth(page: string): number {
  const scripts = { loader: '/docs/_docshelf/assets/search-box-3f9ab2c41d7e0856/loader.js', replacing: '' };
  const additions = searchBoxAdditions({ scripts, replaces: false, isOfShelf: true }, []);
  const bytes = Buffer.from(page);
  return brotliCompressSync(addToPage(bytes, 'text/html', additions)).length - brotliCompressSync(bytes).length;
}

it('the search box: under 1 KB for who never searches, under 15 KB for who does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-box-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { buildSearchBox } = await import(join(import.meta.dirname, '../../../scripts/search-box.mjs'));
  await buildSearchBox(folder);
  const [loader, replacing, byHand, script] = ['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js'].map((name) =>
    readFileSync(join(folder, name)),
  );
  if (loader === undefined || replacing === undefined || byHand === undefined || script === undefined)
    throw new Error('the build left a script out');
  // Over plain http browsers ask for no other coding.
  expect(gzipSync(loader).length).toBeLessThan(KIB);
  expect(brotliCompressSync(loader).length + brotliGrowth(PAGE)).toBeLessThan(KIB);
  expect(brotliCompressSync(replacing).length).toBeLessThan(KIB);
  expect(gzipSync(loader).length + gzipSync(script).length).toBeLessThanOrEqual(15 * KIB);
  // Nothing that the build was to put in, and nothing that a policy refuses.
  expect(`${loader}${replacing}${byHand}${script}`).not.toMatch(
    /\b(?:LABELS|REPLACES|ENGLISH|LANGUAGES)\b|innerHTML|\beval\b|new Function/,
  );
});

it('the search box: a script, another on demand, and the words of each language but English, under one name for all', () => {
  const { folder, files } = searchBoxFiles();
  expect(folder).toMatch(/^search-box-[0-9a-f]{16}$/);
  expect([...files.keys()].slice(0, 4)).toEqual(['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js']);
  expect([...files.keys()]).toContain('words-pt-BR.json');
  expect(files.size).toBe(13);
  const german = JSON.parse(Buffer.from(files.get('words-de.json')?.bytes ?? []).toString());
  expect([german.open, files.get('words-de.json')?.type]).toEqual(['Suchen', 'application/json; charset=utf-8']);
});
