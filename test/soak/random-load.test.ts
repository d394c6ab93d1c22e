import { afterEach, expect, test } from 'vitest';
import { LARGE_SIZE, loadAtRandom } from '../acceptance/random-load.ts';
import { openBench } from '../helpers/daemon.ts';

const bench = openBench(afterEach);
/** DOCSHELF_LOAD_MINUTES changes the number. */
const MINUTES = Number(process.env.DOCSHELF_LOAD_MINUTES ?? 20);
/** Compared with the second quarter, because memory grows in the first one and a collection may be due. */
const GROWTH_MAX = 1.1;
const GROWTH_MAX_MIB = 32;

test(`${MINUTES} minutes of random load over 2 GiB do not increase the resident memory`, {
  timeout: (MINUTES + 30) * 60_000,
}, async () => {
  const samples = await loadAtRandom(bench, MINUTES * 60, LARGE_SIZE);
  const half = samples.length >> 1;
  const before = Math.max(...samples.slice(half >> 1, half));
  expect(Math.max(...samples.slice(half))).toBeLessThan(before * GROWTH_MAX + GROWTH_MAX_MIB);
});
