import { readFileSync } from 'node:fs';
import { PAGE_LANGUAGES } from '../../web/words/index.ts';
import { type AssetFolder, assetFolder, textFile } from './asset-folder.ts';

const ASSETS = new URL('assets/switcher/', import.meta.url);
/** A page's own rules for links and paragraphs are weaker than one with an identifier, which no element has. */
const ON_PAGES = 'docshelf-versions:not(#_)';

export const SWITCHER_SCRIPT = 'switcher.js';
export const SWITCHER_STYLE = 'switcher.css';

/** Of the switcher of versions: a script with words and style in it, and the style for pages that show a notice before it runs, or without it. */
export function switcherFiles(): AssetFolder {
  const [script, style] = [SWITCHER_SCRIPT, SWITCHER_STYLE].map((name) => readFileSync(new URL(name, ASSETS), 'utf8'));
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
