import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync, brotliDecompressSync, gunzipSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isFree } from '../../../src/http/sign-in/guarded-site.ts';
import { SiteAssets, searchBoxFiles, switcherFiles } from '../../../src/http/site/site-assets.ts';
import { searchBoxAdditions } from '../../../src/site/additions.ts';
import { addToPage } from '../../../src/web/additions/add-to-page.ts';
import { PAGE_LANGUAGES } from '../../../src/web/words/index.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { siteApp } from './site-example.ts';

describe('/_docshelf/assets/ of a site', () => {
  const assets = new SiteAssets();
  const app = siteApp({ basePath: '/docs/', assets });

  it('serves the search box script in the base path even without a release, and lets caches keep the script forever', async () => {
    const script = await app.request(`/docs/${assets.searchBox.loader}`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect([script.status, script.headers.get('content-type'), script.headers.get('content-encoding')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'gzip',
    ]);
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const plain = await (await app.request(`/docs/${assets.searchBox.loader}`)).text();
    expect(gunzipSync(await script.arrayBuffer()).toString()).toBe(plain);
    const small = await app.request(`/docs/${assets.searchBox.loader}`, {
      headers: { 'Accept-Encoding': 'gzip, deflate, br' },
    });
    expect(small.headers.get('content-encoding')).toBe('br');
    expect(brotliDecompressSync(await small.arrayBuffer()).toString()).toBe(plain);
    expect((await app.request(`/${assets.searchBox.loader}`)).status).toBe(404);
  });

  it('responds to HEAD without a body, and redirects the unversioned address to the current script', async () => {
    const head = await app.request(`/docs/${assets.searchBox.loader}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const named = await app.request('/docs/_docshelf/assets/search-box.js');
    expect([named.status, named.headers.get('location'), named.headers.get('cache-control')]).toEqual([
      302,
      `/docs/${assets.searchBox.byHand}`,
      'no-cache',
    ]);
  });

  it('needs a sign-in, except for valid asset names', () => {
    expect(isFree(`/${assets.searchBox.loader}`)).toBe(true);
    for (const target of ['assets/../secret', 'assets/a/b/c.js', 'assets/.a/b', 'assets/a%2fb', 'assets/', 'v/a'])
      expect(isFree(`/_docshelf/${target}`), target).toBe(false);
  });
});

const KIB = 1024;
/** Without scripts and links, which would make the additions compress better. */
const PAGE = `<!doctype html><html lang="de"><title>Seite</title><h1>Seite</h1><p>${'Ein paar Wörter mehr. '.repeat(20)}</p></html>`;

/** Growth of a page by the element of the loader, compressed. */
function brotliGrowth(page: string): number {
  const scripts = { loader: '/docs/_docshelf/assets/search-box-3f9ab2c41d7e0856/loader.js', replacing: '' };
  const additions = searchBoxAdditions(
    { scripts, page: '/docs/_docshelf/search', replaces: false, isOfShelf: true },
    [],
  );
  const bytes = Buffer.from(page);
  return brotliCompressSync(addToPage(bytes, 'text/html', additions)).length - brotliCompressSync(bytes).length;
}

it('the search box loads less than 1.25 KiB before a search and less than 15 KB for the first search', async () => {
  const folder = newFolder();
  const { buildSearchBox } = await import(join(import.meta.dirname, '../../../scripts/search-box.mjs'));
  await buildSearchBox(folder);
  const [loader, replacing, byHand, script] = ['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js'].map((name) =>
    readFileSync(join(folder, name)),
  );
  if (loader === undefined || replacing === undefined || byHand === undefined || script === undefined)
    throw new Error('the build left a script out');
  // Over plain http, browsers accept no better coding.
  expect(gzipSync(loader).length).toBeLessThan(1.25 * KIB);
  expect(brotliCompressSync(loader).length + brotliGrowth(PAGE)).toBeLessThan(1.25 * KIB);
  expect(brotliCompressSync(replacing).length).toBeLessThan(1.25 * KIB);
  expect(gzipSync(loader).length + gzipSync(script).length).toBeLessThanOrEqual(15 * KIB);
  // No unreplaced placeholders of the build, and no code that a content security policy blocks.
  expect(`${loader}${replacing}${byHand}${script}`).not.toMatch(
    /\b(?:LABELS|REPLACES|ENGLISH|LANGUAGES)\b|innerHTML|\beval\b|new Function/,
  );
});

it('searchBoxFiles() returns a folder with a hash in its name, scripts, and a file of texts for each language except English', () => {
  const { folder, files } = searchBoxFiles();
  expect(folder).toMatch(/^search-box-[0-9a-f]{16}$/);
  expect([...files.keys()].slice(0, 4)).toEqual(['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js']);
  expect([...files.keys()]).toContain('words-pt-BR.json');
  expect(files.size).toBe(18);
  const german = JSON.parse(Buffer.from(files.get('words-de.json')?.bytes ?? []).toString());
  expect([german.open, files.get('words-de.json')?.type]).toEqual(['Suchen', 'application/json; charset=utf-8']);
});

it('switcherFiles() returns a script with the texts of all languages, and a style sheet that affects only the switcher', () => {
  const { folder, files } = switcherFiles();
  expect(folder).toMatch(/^switcher-[0-9a-f]{16}$/);
  const [script = '', style = ''] = [...files.values()].map(({ bytes }) => Buffer.from(bytes).toString());
  expect([...files.keys()]).toEqual(['switcher.js', 'switcher.css']);
  for (const { words } of PAGE_LANGUAGES) expect(script).toContain(JSON.stringify(words.versions));
  expect(gzipSync(script).length).toBeLessThanOrEqual(5 * 1024);
  // No code that a content security policy blocks.
  expect(script).not.toMatch(/innerHTML|\beval\b|new Function|\.style\b/);
  const selectors = style
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/@media[^{]*\{/g, '')
    .split('}')
    .flatMap((rule) => (rule.includes('{') ? [rule.slice(0, rule.indexOf('{')).trim()] : []));
  expect(selectors.length).toBeGreaterThan(10);
  for (const selector of selectors) expect(selector).toMatch(/^docshelf-versions:not\(#_\)/);
});

it('the switcher texts of each language contain the version placeholder', () => {
  for (const { tag, words } of PAGE_LANGUAGES) {
    const { version, notice, lead } = words.versions;
    for (const sentence of [version, notice, lead]) expect(sentence, tag).toContain('{version}');
  }
});
