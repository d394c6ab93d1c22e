/**
 * Writes the program with its packages into dist/, bundled into chunks that load together. Without bundling, it has about a
 * thousand modules. To find them took half of the processor time of a start.
 */
import { writeFileSync } from 'node:fs';
import { dirname, posix, relative, resolve } from 'node:path';
import { build } from 'vite';
import { licenseTexts, packageFolder } from './licenses.mjs';
import { OUTSIDE } from './outside.ts';

const SOURCES = resolve(import.meta.dirname, '../src');
/** Placeholder for the path from a chunk to dist/, until the chunks have paths. */
const WAY = '__WAY_TO_DIST__';

await build({
  configFile: false,
  logLevel: 'warn',
  plugins: [
    { name: 'own-addresses', enforce: 'pre', transform: ownAddresses, renderChunk: ownWay, writeBundle: licences },
    { name: 'no-asm', transform: withoutAsm },
  ],
  ssr: { noExternal: true, external: OUTSIDE },
  build: {
    ssr: true,
    outDir: 'dist',
    target: 'node24',
    minify: false,
    // Write source maps for coverage, which counts functions by their sources.
    sourcemap: process.env.DOCSHELF_SOURCE_MAPS === '1',
    rolldownOptions: {
      input: { main: resolve(SOURCES, 'main.ts') },
      output: { entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' },
    },
  },
});

/**
 * A module finds its files and threads by its path in src/. They have the same path in dist/, but the chunk of the module does
 * not, so rewrites `import.meta`. The module of a thread becomes a separate entry.
 */
function ownAddresses(code, id) {
  if (!id.startsWith(SOURCES) || !code.includes('import.meta')) return null;
  const place = relative(SOURCES, id).replace(/\.tsx?$/, '.js');
  for (const [, path] of code.matchAll(/\bthreadEntry\('([^']+)', import\.meta\)/g)) {
    const name = posix.join(dirname(place), path);
    this.emitFile({ type: 'chunk', id: resolve(SOURCES, `${name}.ts`), fileName: `${name}.js` });
  }
  const own = `new URL('${place}', new URL('${WAY}', import.meta.url)).href`;
  const moved = code.replaceAll(/\bimport\.meta(\.url)?(?=[),])/g, (_, url) => (url ? own : `{ url: ${own} }`));
  return { code: moved, map: null };
}

/** Bundling makes this asm.js invalid. With the directive, V8 would write a warning to the log of the daemon. */
function withoutAsm(code, id) {
  return id.includes('/es-module-lexer/') ? { code: code.replaceAll(/(["'])use asm\1;?/g, ''), map: null } : null;
}

function ownWay(code, { fileName }) {
  if (!code.includes(WAY)) return null;
  return { code: code.replaceAll(WAY, `${relative(dirname(fileName), '.') || '.'}/`), map: null };
}

function licences({ dir }, chunks) {
  const files = Object.values(chunks).flatMap(({ moduleIds = [] }) => moduleIds);
  const folders = new Set(files.flatMap((file) => packageFolder(file) ?? []));
  writeFileSync(resolve(dir, 'licenses.txt'), licenseTexts([...folders]));
}
