import { execFileSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { readFolder } from '../../test/helpers/read-archive.ts';

/** Installed only for the benchmark (bench/widget/package.json). */
const PROGRAM = join(import.meta.dirname, 'node_modules/.bin/pagefind');
/** Elements of Pagefind's documentation for a dialog. */
const HEAD =
  '<link rel="stylesheet" href="/pagefind/pagefind-component-ui.css"><script type="module" src="/pagefind/pagefind-component-ui.js"></script>';
const BODY = '<pagefind-modal-trigger></pagefind-modal-trigger><pagefind-modal></pagefind-modal>';

export interface PagefindSite {
  /** Files of the site, with Pagefind in `pagefind/` and its dialog in each page. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly indexMs: number;
  /** Size of index and fragments, without scripts and styles. */
  readonly indexBytes: number;
}

/** Adds Pagefind to a site, like its author would. @param work an empty folder, which is removed */
export async function withPagefind(site: ReadonlyMap<string, Uint8Array>, work: string): Promise<PagefindSite> {
  for (const [path, bytes] of site) {
    await mkdir(dirname(join(work, path)), { recursive: true });
    await writeFile(join(work, path), bytes);
  }
  const beganMs = performance.now();
  execFileSync(PROGRAM, ['--site', work], { stdio: ['ignore', 'ignore', 'inherit'] });
  const indexMs = performance.now() - beganMs;
  const files = await readFolder(work);
  let indexBytes = 0;
  for (const [path, bytes] of files) {
    if (/^pagefind\/.*\.(?:pf_\w+|json)$/.test(path)) indexBytes += bytes.length;
    if (path.endsWith('.html')) files.set(path, withDialog(bytes));
  }
  return { files, indexMs, indexBytes };
}

function withDialog(page: Buffer): Buffer {
  const text = page.toString();
  const bodyEnd = text.lastIndexOf('</body>');
  const [before, after] = bodyEnd === -1 ? [text, ''] : [text.slice(0, bodyEnd), text.slice(bodyEnd)];
  return Buffer.from((before + BODY + after).replace(/<\/head>|(?=<main>)/, (end) => HEAD + end));
}

/** Files of a site, without the only top-level folder. */
export function rootOf(site: ReadonlyMap<string, Buffer>): ReadonlyMap<string, Buffer> {
  if (site.has('index.html')) return site;
  return new Map(Array.from(site, ([path, bytes]) => [path.replace(/^[^/]+\//, ''), bytes]));
}
