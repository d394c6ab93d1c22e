import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { buildSearchBox, minified } from './search-box.mjs';

// What the program reads at run time and the compiler does not write, put beside the code that reads it: a running docshelf
// needs neither its sources nor a development package.

// The viewer that /docs of the API listener shows its description with.
const viewer = 'node_modules/swagger-ui-dist';
const httpAssets = 'dist/http/api/assets';
mkdirSync(httpAssets, { recursive: true });
for (const name of [
  'swagger-ui-bundle.js',
  'swagger-ui-bundle.js.LICENSE.txt',
  'swagger-ui.css',
  'LICENSE',
  'NOTICE',
]) {
  copyFileSync(`${viewer}/${name}`, `${httpAssets}/${name}`);
}

// Styles and script of the sites that are made of Markdown.
cpSync('src/export/markdown/assets', 'dist/export/markdown/assets', { recursive: true });

// Style, script and icon of docshelf's own pages.
cpSync('src/http/site/assets', 'dist/http/site/assets', { recursive: true });

// The search box, whose sources no page loads.
rmSync('dist/http/site/assets/search-box', { recursive: true });
await buildSearchBox('dist/http/site/assets/search-box');

// The switcher of versions.
const switcher = 'http/site/assets/switcher/switcher.js';
writeFileSync(`dist/${switcher}`, minified('switcher.js', readFileSync(`src/${switcher}`, 'utf8')));

// Style and scripts of the console.
const pages = 'http/console/assets';
mkdirSync(`dist/${pages}`, { recursive: true });
for (const name of readdirSync(`src/${pages}`)) {
  const source = readFileSync(`src/${pages}/${name}`, 'utf8');
  writeFileSync(`dist/${pages}/${name}`, name.endsWith('.js') ? minified(name, source) : source);
}
