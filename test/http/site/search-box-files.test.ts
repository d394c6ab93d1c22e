import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, it, onTestFinished } from 'vitest';
import { searchBoxFiles } from '../../../src/http/site/search-box-files.ts';

const KIB = 1024;

it('the search box: under 1 KB for who never searches, under 15 KB for who does', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'docshelf-box-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const { buildSearchBox } = await import(join(import.meta.dirname, '../../../scripts/search-box.mjs'));
  await buildSearchBox(folder);
  const [loader, replacing, script] = ['loader.js', 'replacing.js', 'search-box.js'].map((name) =>
    readFileSync(join(folder, name)),
  );
  if (loader === undefined || replacing === undefined || script === undefined)
    throw new Error('the build left a script out');
  expect(brotliCompressSync(loader).length).toBeLessThanOrEqual(KIB);
  expect(brotliCompressSync(replacing).length).toBeLessThanOrEqual(1.25 * KIB);
  // Over plain http browsers ask for no other coding.
  expect(gzipSync(loader).length).toBeLessThanOrEqual(1.125 * KIB);
  expect(gzipSync(loader).length + gzipSync(script).length).toBeLessThanOrEqual(15 * KIB);
  // Nothing that the build was to put in, and nothing that a policy refuses.
  expect(`${loader}${replacing}${script}`).not.toMatch(
    /\b(?:LABELS|REPLACES|ENGLISH|LANGUAGES)\b|innerHTML|\beval\b|new Function/,
  );
});

it('the search box: a script, another on demand, and the words of each language but English, under one name for all', () => {
  const { folder, files } = searchBoxFiles();
  expect(folder).toMatch(/^search-box-[0-9a-f]{16}$/);
  expect([...files.keys()].slice(0, 3)).toEqual(['loader.js', 'replacing.js', 'search-box.js']);
  expect([...files.keys()]).toContain('words-pt-BR.json');
  expect(files.size).toBe(12);
  const german = JSON.parse(Buffer.from(files.get('words-de.json')?.bytes ?? []).toString());
  expect([german.open, files.get('words-de.json')?.type]).toEqual(['Suchen', 'application/json; charset=utf-8']);
});
