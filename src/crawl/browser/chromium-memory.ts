import { readFile } from 'node:fs/promises';
import type { CDPSession } from 'playwright-core';

/** What a page may fill: a heavy page of documentation takes 300 MiB. */
const RENDERER_BYTES_MAX = 1024 ** 3;
/** A script was seen to fill 600 MiB in a second. */
const LOOK_EVERY_MS = 500;
/** Linux counts in these (proc(5), statm), on all machines that Chromium is made for but some of ARM. */
const MEMORY_PAGE_BYTES = 4096;

/**
 * Ends the process of a page that takes too much memory: for the page, its tab has crashed. That V8's heap is bounded is not
 * enough: buffers and pictures lie outside of it.
 *
 * Looks only where `/proc` is.
 *
 * @param browser a session of the browser's own target
 * @returns a function that ends it
 */
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
  // Sizes in memory pages: the whole, what is resident, …
  const statm = await readFile(`/proc/${pid}/statm`, 'utf8').catch(() => '');
  return Number(statm.split(' ')[1] ?? 0) * MEMORY_PAGE_BYTES;
}
