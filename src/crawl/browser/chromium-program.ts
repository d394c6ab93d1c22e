import { accessSync, constants } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import type { CDPSession } from 'playwright-core';
import { DocshelfError } from '../../domain/errors.ts';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** DOCSHELF_CHROMIUM, else the first of `NAMES` on PATH. @throws DocshelfError `browser_missing` */
export function findChromium(env: NodeJS.ProcessEnv): string {
  const named = env.DOCSHELF_CHROMIUM;
  if (named !== undefined && named !== '') {
    if (isAbsolute(named) && isExecutable(named)) return named;
    throw missing(
      `"${named}"`,
      'DOCSHELF_CHROMIUM names no program that may be run',
      'Set DOCSHELF_CHROMIUM to the absolute path of a Chromium, or unset it.',
    );
  }
  const folders = (env.PATH ?? '').split(delimiter).filter(isAbsolute);
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find(isExecutable);
  if (found !== undefined) return found;
  const next = 'Install the package chromium, or set DOCSHELF_CHROMIUM to the path of one.';
  throw missing('Chromium', 'it is not installed', next);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function missing(thing: string, state: string, next: string): DocshelfError {
  return new DocshelfError('browser_missing', `Cannot start ${thing}: ${state}`, { next });
}

/** A heavy page of documentation takes 300 MiB. */
const RENDERER_BYTES_MAX = 1024 ** 3;
/** A script was seen to fill 600 MiB in a second. */
const LOOK_EVERY_MS = 500;
/** Unit of proc(5), statm, on all machines that Chromium is made for but some of ARM. */
const MEMORY_PAGE_BYTES = 4096;

/** Ends processes of pages over the bound, with buffers and pictures outside of V8's heap too. Needs `/proc`. */
export function watchMemory(browser: CDPSession): () => void {
  const timer = setInterval(() => void endLarge(browser).catch(() => undefined), LOOK_EVERY_MS);
  return () => clearInterval(timer);
}

async function endLarge(browser: CDPSession): Promise<void> {
  const { processInfo } = await browser.send('SystemInfo.getProcessInfo');
  for (const { type, id } of processInfo) {
    if (type === 'renderer' && (await residentBytes(id)) > RENDERER_BYTES_MAX) process.kill(id, 'SIGKILL');
  }
}

async function residentBytes(pid: number): Promise<number> {
  const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(statm.split(' ')[1] ?? 0) * MEMORY_PAGE_BYTES;
}
