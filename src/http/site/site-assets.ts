import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { ENGLISH, PAGE_LANGUAGES } from '../../web/words/index.ts';
import { answerAsset, BASE_STYLE, type HashedAsset, ownAsset } from '../own-asset.ts';

interface AssetFile {
  /** With its charset. */
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

interface AssetFolder {
  /** `search-box-3f9ab2c41d7e0856`: its name changes with any of its files, so that those name each other as they are. */
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
/** One of the first three is all that a page asks for by itself. The build minifies them, and joins what they import (scripts/search-box.mjs). */
const SCRIPTS = ['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js'];

/** Of the search box, as pages load them. English is in the script, another language is a file. */
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
/** A page's own rules for links and paragraphs are weaker than one with an identifier, which no element has. */
const ON_PAGES = 'docshelf-versions:not(#_)';

const SWITCHER_SCRIPT = 'switcher.js';
const SWITCHER_STYLE = 'switcher.css';

/** Of the switcher of versions: a script with words and style in it, and the style for pages that show a notice before it runs, or without it. */
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

/** Below the base path of each site; free of sign-in. */
export const ASSET_ADDRESSES = '/_docshelf/assets/';
/** For a template that names the search box by hand: the page's script keeps its address from version to version. */
const BY_HAND = `${ASSET_ADDRESSES}search-box.js`;
const LOADER = 'loader.js';
const REPLACING = 'replacing.js';
const FOR_BY_HAND = 'by-hand.js';

/** Docshelf's own files on pages of sites, the same for all of a daemon. Read when they are first needed. */
export class SiteAssets {
  #read: ReturnType<typeof readFiles> | null = null;

  /**
   * Of the scripts that pages with a search box load, below the base path: `_docshelf/assets/search-box-3f9ab2c41d7e0856/loader.js`, and
   * where the box replaces another, or a template names it by hand.
   */
  get searchBox(): Readonly<Record<'loader' | 'replacing' | 'byHand', string>> {
    const folder = `${ASSET_ADDRESSES.slice(1)}${this.#files.searchBox}/`;
    return { loader: folder + LOADER, replacing: folder + REPLACING, byHand: folder + FOR_BY_HAND };
  }

  /** Of the switcher of versions, below the base path, as the loader's. */
  get switcher(): Readonly<Record<'script' | 'style', string>> {
    const folder = `${ASSET_ADDRESSES.slice(1)}${this.#files.switcher}/`;
    return { script: folder + SWITCHER_SCRIPT, style: folder + SWITCHER_STYLE };
  }

  /** Of docshelf's own pages, relative to `_docshelf/`. */
  get page(): Readonly<Record<'css' | 'svg', string>> {
    const { css, svg } = this.#files;
    return { css: `assets/${css.name}`, svg: `assets/${svg.name}` };
  }

  /** Null for what is none. @param path of the request below the base path */
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

  get #files() {
    this.#read ??= readFiles();
    return this.#read;
  }
}

function readFiles() {
  const [searchBox, switcher] = [searchBoxFiles(), switcherFiles()];
  const byPath = new Map<string, () => HashedAsset>();
  for (const { folder, files } of [searchBox, switcher]) {
    for (const [name, file] of files) byPath.set(`${ASSET_ADDRESSES}${folder}/${name}`, compressed(name, file));
  }
  const css = ownAsset(new URL('assets/pages.css', import.meta.url), BASE_STYLE);
  const svg = ownAsset(new URL('assets/shelf.svg', import.meta.url));
  for (const own of [css, svg]) byPath.set(ASSET_ADDRESSES + own.name, () => own);
  return { searchBox: searchBox.folder, switcher: switcher.folder, byPath, css, svg };
}

/** By its first answer: a start asks for addresses alone, and a reader for the words of one language. */
function compressed(name: string, { type, bytes }: AssetFile): () => HashedAsset {
  let made: HashedAsset | null = null;
  return () => {
    const brotli = () => Uint8Array.from(brotliCompressSync(bytes));
    made ??= { name, type, bytes, gzipped: gzipSync(bytes, { level: 9 }), brotli: brotli() };
    return made;
  };
}
