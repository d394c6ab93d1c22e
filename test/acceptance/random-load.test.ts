import { afterEach, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { loadAtRandom, SMALL_SIZE } from './random-load.ts';

const bench = openBench(afterEach);

/** Short form of the soak test: some seconds, and a small site. */
test('the daemon responds correctly to random requests, conditional requests and disconnects, and to 2,000 concurrent connections', async () => {
  await loadAtRandom(bench, 10, SMALL_SIZE);
});
