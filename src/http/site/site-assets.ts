import { brotliCompressSync, gzipSync } from 'node:zlib';
import { answerAsset, type HashedAsset } from '../hashed-asset.ts';
import { BASE_STYLE, ownAsset } from '../own-asset.ts';
import type { AssetFile } from './asset-folder.ts';
import { searchBoxFiles } from './search-box-files.ts';
import { SWITCHER_SCRIPT, SWITCHER_STYLE, switcherFiles } from './switcher-files.ts';

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
