import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { buildSearchBox, minified } from './search-box.mjs';

// Copies files that the program reads at run time and the compiler does not write to dist/. The files are next to their code, so
// that a running docshelf needs neither its sources nor a development package.

// Styles and script of Markdown sites.
cpSync('src/export/markdown/assets', 'dist/export/markdown/assets', { recursive: true });

// Common styles of docshelf's own pages.
cpSync('src/http/assets', 'dist/http/assets', { recursive: true });

// Style and script of /docs.
cpSync('src/http/docs/assets', 'dist/http/docs/assets', { recursive: true });

// Style, script and icon of docshelf's own pages.
cpSync('src/http/site/assets', 'dist/http/site/assets', { recursive: true });

// Replace the sources of the search box, which no page loads.
rmSync('dist/http/site/assets/search-box', { recursive: true });
await buildSearchBox('dist/http/site/assets/search-box');

// The version switcher.
const switcher = 'http/site/assets/switcher/switcher.js';
writeFileSync(`dist/${switcher}`, minified('switcher.js', readFileSync(`src/${switcher}`, 'utf8')));

// Style and scripts of the console.
const pages = 'http/console/assets';
mkdirSync(`dist/${pages}`, { recursive: true });
for (const name of readdirSync(`src/${pages}`)) {
  const source = readFileSync(`src/${pages}/${name}`, 'utf8');
  writeFileSync(`dist/${pages}/${name}`, name.endsWith('.js') ? minified(name, source) : source);
}
