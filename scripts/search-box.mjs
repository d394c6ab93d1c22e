/**
 * Writes the search box in the form that pages load: four minified scripts that contain the style and the English words. The
 * words are in TypeScript files, which Node reads directly.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { build, minifySync } from 'vite';
import { PAGE_LANGUAGES } from '../src/web/words/index.ts';

const SOURCES = resolve(import.meta.dirname, '../src/http/site/assets/search-box');
const ENGLISH = 'en';

/** @param {string} folder created if it is missing */
export async function buildSearchBox(folder) {
  const others = PAGE_LANGUAGES.filter(({ tag }) => tag !== ENGLISH);
  const english = PAGE_LANGUAGES.find(({ tag }) => tag === ENGLISH);
  const labels = Object.fromEntries(others.map(({ tag, words }) => [tag.slice(0, 2), words.searchBox.open]));
  mkdirSync(folder, { recursive: true });
  const loader = readFileSync(join(SOURCES, 'loader.js'), 'utf8');
  for (const [name, values] of [
    ['loader.js', { REPLACES: false, LABELS: null }],
    ['replacing.js', { REPLACES: true, LABELS: null }],
    ['by-hand.js', { REPLACES: false, LABELS: labels }],
  ]) {
    const source = loader.replaceAll(/\b(?:REPLACES|LABELS)\b/g, (each) => JSON.stringify(values[each]));
    writeFileSync(join(folder, name), minified(name, source));
  }
  await build({
    configFile: false,
    root: SOURCES,
    logLevel: 'error',
    define: {
      ENGLISH: JSON.stringify(english.words.searchBox),
      LANGUAGES: JSON.stringify(others.map(({ tag }) => tag)),
    },
    build: {
      outDir: resolve(folder),
      emptyOutDir: false,
      target: 'es2022',
      cssTarget: 'chrome123',
      modulePreload: false,
      rollupOptions: {
        input: { 'search-box': join(SOURCES, 'search-box.js') },
        preserveEntrySignatures: 'strict',
        output: { entryFileNames: '[name].js' },
      },
    },
  });
}

/** Minified code of a module without imports. The caller defines missing names before the code. */
export function minified(name, source) {
  const options = { module: true, compress: true, mangle: { toplevel: true }, codegen: true };
  const { code, errors } = minifySync(name, source, options);
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  return code;
}
