import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packBundle } from '../../src/archive/pack.ts';
import { writePages } from './pages.ts';

const PAGES = 10_000;
const LEVEL = 6;
/** Measured pairs, after one that warms the page cache. */
const PAIRS = 5;
/** Aim: factor over the time of `tar | gzip`. */
const RATIO_MAX = 1.3;

/** Packs 10,000 pages in pairs with `tar | gzip` at the same level, to the same disk. Prints the ratio of times. */
export async function benchPack(): Promise<void> {
  const dir = mkdtempSync(join(tmpdir(), 'docshelf-bench-pack-'));
  try {
    const site = join(dir, 'site');
    mkdirSync(site);
    const entries = writePages(site, PAGES);
    const siteBytes = entries.reduce((sum, { size }) => sum + size, 0);
    console.log(`\n## Packing: ${PAGES} pages, ${Math.round(siteBytes / 1e6)} MB, level ${LEVEL}\n`);
    console.log('| pair | tar \\| gzip | docshelf | ratio |\n|---|---|---|---|');

    const ours = join(dir, 'ours.tar.gz');
    const theirs = join(dir, 'theirs.tar.gz');
    const ratios: number[] = [];
    for (let pair = 0; pair <= PAIRS; pair += 1) {
      const theirSeconds = await secondsOf(() => tarGzip(site, theirs));
      const ourSeconds = await secondsOf(() => packBundle({ entries, to: ours, level: LEVEL }));
      if (pair === 0) continue;
      const ratio = ourSeconds / theirSeconds;
      ratios.push(ratio);
      console.log(`| ${pair} | ${theirSeconds.toFixed(2)} s | ${ourSeconds.toFixed(2)} s | ${ratio.toFixed(2)} |`);
    }
    ratios.sort((a, b) => a - b);
    const median = ratios[Math.floor(PAIRS / 2)] ?? Number.NaN;
    const size = statSync(ours).size / statSync(theirs).size;
    console.log(
      `\nRatio of times, median: ${median.toFixed(2)} (aim: at most ${RATIO_MAX}); of sizes: ${size.toFixed(3)}`,
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Packs in the order of names. It flushes nothing, unlike docshelf. */
function tarGzip(site: string, to: string): void {
  execFileSync('sh', ['-c', `tar --sort=name -C "$1" -cf - . | gzip -${LEVEL} >"$2"`, 'sh', site, to]);
}

async function secondsOf(work: () => unknown): Promise<number> {
  const startedMs = performance.now();
  await work();
  return (performance.now() - startedMs) / 1000;
}
