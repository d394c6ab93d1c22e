import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ENGLISH, PAGE_LANGUAGES } from '../../web/words/index.ts';
import { answerAsset, BASE_STYLE, type HashedAsset, ICON, ownAsset } from '../own-asset.ts';

/** Path of docshelf's own files under the base path of each site. It needs no sign-in. */
const ASSET_ADDRESSES = '/_docshelf/assets/';
/** Address of the search box for templates that include it themselves. All versions of docshelf use the same address. */
const BY_HAND = `${ASSET_ADDRESSES}search-box.js`;
const LOADER = 'loader.js';
const REPLACING = 'replacing.js';
const FOR_BY_HAND = 'by-hand.js';

/** docshelf's own files for pages, which all sites of a daemon share. */
export class SiteAssets {
  readonly #files = readFiles();

  /** Addresses of scripts, relative to the base path, such as `_docshelf/assets/search-box-3f9ab2c41d7e0856/loader.js`. */
  get searchBox(): Readonly<Record<'loader' | 'replacing' | 'byHand', string>> {
    const folder = `${ASSET_ADDRESSES.slice(1)}${this.#files.searchBox}/`;
    return { loader: folder + LOADER, replacing: folder + REPLACING, byHand: folder + FOR_BY_HAND };
  }

  get switcher(): Readonly<Record<'script' | 'style', string>> {
    const folder = `${ASSET_ADDRESSES.slice(1)}${this.#files.switcher}/`;
    return { script: folder + SWITCHER_SCRIPT, style: folder + SWITCHER_STYLE };
  }

  get page(): Readonly<Record<'css' | 'js' | 'svg', string>> {
    const { css, js, svg } = this.#files;
    return { css: `assets/${css.name}`, js: `assets/${js.name}`, svg: `assets/${svg.name}` };
  }

  /** Serves a file of docshelf. Null if no such file exists. @param path path of the request under the base path */
  answer(path: string, basePath: string, acceptEncoding: string | undefined, method: string): Response | null {
    if (!path.startsWith(ASSET_ADDRESSES)) return null;
    const isHead = method === 'HEAD';
    if (!isHead && method !== 'GET') return null;
    if (path === BY_HAND) {
      const headers = {
        Location: basePath + this.searchBox.byHand,
        'Content-Length': '0',
        'Cache-Control': 'no-cache',
      };
      return new Response(null, { status: 302, headers });
    }
    const file = this.#files.byPath.get(path);
    if (file === undefined) return null;
    const answer = answerAsset(file(), acceptEncoding);
    return isHead ? new Response(null, { headers: answer.headers }) : answer;
  }
}

function readFiles() {
  const [searchBox, switcher] = [searchBoxFiles(), switcherFiles()];
  const byPath = new Map<string, () => HashedAsset>();
  for (const { folder, files } of [searchBox, switcher]) {
    for (const [name, file] of files) byPath.set(`${ASSET_ADDRESSES}${folder}/${name}`, compressed(name, file));
  }
  const css = ownAsset(new URL('assets/pages.css', import.meta.url), BASE_STYLE);
  const js = ownAsset(new URL('assets/shelf.js', import.meta.url));
  const svg = ownAsset(ICON);
  for (const own of [css, js, svg]) byPath.set(ASSET_ADDRESSES + own.name, () => own);
  return { searchBox: searchBox.folder, switcher: switcher.folder, byPath, css, js, svg };
}

/** Compresses a file only at its first request, because a reader requests the texts of only one language. */
function compressed(name: string, { type, bytes }: AssetFile): () => HashedAsset {
  let made: HashedAsset | null = null;
  return () => {
    const brotli = () => Uint8Array.from(brotliCompressSync(bytes));
    made ??= { name, type, bytes, gzipped: gzipSync(bytes, { level: 9 }), brotli: brotli() };
    return made;
  };
}

type AssetFile = Pick<HashedAsset, 'type' | 'bytes'>;

interface AssetFolder {
  /**
   * Folder name such as `search-box-3f9ab2c41d7e0856`. The digest covers all files, because the files refer to each other by
   * names without a digest.
   */
  readonly folder: string;
  readonly files: ReadonlyMap<string, AssetFile>;
}

function assetFolder(name: string, files: ReadonlyMap<string, AssetFile>): AssetFolder {
  const digest = createHash('sha256');
  for (const [file, { bytes }] of files) digest.update(`${file}\n${bytes.length}\n`).update(bytes);
  return { folder: `${name}-${digest.digest('hex').slice(0, 16)}`, files };
}

function textFile(type: string, text: string | Buffer): AssetFile {
  return { type: `${type}; charset=utf-8`, bytes: Uint8Array.from(Buffer.from(text)) };
}

const SEARCH_BOX_ASSETS = new URL('assets/search-box/', import.meta.url);
/** Scripts of the search box, bundled by `scripts/search-box.mjs`. A page loads only one of the first three scripts. */
const SCRIPTS = ['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js'];

export function searchBoxFiles(): AssetFolder {
  const scripts = SCRIPTS.map(
    (name) => [name, textFile('text/javascript', readFileSync(new URL(name, SEARCH_BOX_ASSETS)))] as const,
  );
  const words = PAGE_LANGUAGES.filter((language) => language !== ENGLISH).map(
    ({ tag, words: { searchBox } }) =>
      [`words-${tag}.json`, textFile('application/json', JSON.stringify(searchBox))] as const,
  );
  return assetFolder('search-box', new Map([...scripts, ...words]));
}

const SWITCHER_ASSETS = new URL('assets/switcher/', import.meta.url);
/** Selector of the version switcher. `:not(#_)` always matches, and makes docshelf's style rules stronger than those of the page. */
const ON_PAGES = 'docshelf-versions:not(#_)';

const SWITCHER_SCRIPT = 'switcher.js';
const SWITCHER_STYLE = 'switcher.css';

/**
 * Files of the version switcher. Its script contains the texts and style. Pages with a notice but without the script use the style
 * sheet.
 */
export function switcherFiles(): AssetFolder {
  const [script, style] = [SWITCHER_SCRIPT, SWITCHER_STYLE].map((name) =>
    readFileSync(new URL(name, SWITCHER_ASSETS), 'utf8'),
  );
  const words = Object.fromEntries(PAGE_LANGUAGES.map(({ tag, words: { versions } }) => [tag, versions]));
  const values = Object.entries({ WORDS: words, STYLE: style, ON_PAGES });
  const whole = [...values.map(([name, value]) => `const ${name} = ${JSON.stringify(value)};`), script].join('\n');
  return assetFolder(
    'switcher',
    new Map([
      [SWITCHER_SCRIPT, textFile('text/javascript', whole)],
      [SWITCHER_STYLE, textFile('text/css', (style ?? '').replaceAll(':host', ON_PAGES))],
    ]),
  );
}
