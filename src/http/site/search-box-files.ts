import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { ENGLISH, PAGE_LANGUAGES } from '../../web/words/index.ts';

export interface SearchBoxFile {
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export interface SearchBoxFiles {
  /** `search-box-3f9ab2c41d7e0856`: its name changes with any of its files, so that those name each other as they are. */
  readonly folder: string;
  readonly files: ReadonlyMap<string, SearchBoxFile>;
}

const ASSETS = new URL('assets/search-box/', import.meta.url);
/** The loader is all that a page asks for by itself. The build minifies both, and joins what they import (scripts/search-box.mjs). */
const SCRIPTS = ['loader.js', 'search-box.js'];

/** Of the search box, as pages load them. English is in the script, another language is a file. */
export function searchBoxFiles(): SearchBoxFiles {
  const scripts = SCRIPTS.map((name) => [name, file('text/javascript', readFileSync(new URL(name, ASSETS)))] as const);
  const words = PAGE_LANGUAGES.filter((language) => language !== ENGLISH).map(
    ({ tag, words: { searchBox } }) =>
      [`words-${tag}.json`, file('application/json', Buffer.from(JSON.stringify(searchBox)))] as const,
  );
  const files = new Map([...scripts, ...words]);
  const digest = createHash('sha256');
  for (const [name, { bytes }] of files) digest.update(`${name}\n${bytes.length}\n`).update(bytes);
  return { folder: `search-box-${digest.digest('hex').slice(0, 16)}`, files };
}

function file(type: string, bytes: Buffer): SearchBoxFile {
  return { type: `${type}; charset=utf-8`, bytes: Uint8Array.from(bytes) };
}
