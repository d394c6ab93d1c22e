import { readFileSync } from 'node:fs';
import { ENGLISH, PAGE_LANGUAGES } from '../../web/words/index.ts';
import { type AssetFolder, assetFolder, textFile } from './asset-folder.ts';

const ASSETS = new URL('assets/search-box/', import.meta.url);
/** One of the first three is all that a page asks for by itself. The build minifies them, and joins what they import (scripts/search-box.mjs). */
const SCRIPTS = ['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js'];

/** Of the search box, as pages load them. English is in the script, another language is a file. */
export function searchBoxFiles(): AssetFolder {
  const scripts = SCRIPTS.map(
    (name) => [name, textFile('text/javascript', readFileSync(new URL(name, ASSETS)))] as const,
  );
  const words = PAGE_LANGUAGES.filter((language) => language !== ENGLISH).map(
    ({ tag, words: { searchBox } }) =>
      [`words-${tag}.json`, textFile('application/json', JSON.stringify(searchBox))] as const,
  );
  return assetFolder('search-box', new Map([...scripts, ...words]));
}
