import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const THREADS = new URL('../../src/threads/index.ts', import.meta.url).href;

/** In a process of its own, which stays at the lowest priority. */
it.runIf(process.platform === 'linux')('lowers the priority of all threads while some of them end', async () => {
  const script = `import { readdirSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { Worker } from 'node:worker_threads';
    import { yieldToAll } from '${THREADS}';
    for (let round = 0; round < 20; round++) {
      const workers = Array.from({ length: 4 }, () => new Worker('', { eval: true }));
      for (let at = 0; at < 1_500; at++) yieldToAll();
      await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))));
    }
    console.log(JSON.stringify(readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))));`;
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
  const niceness = JSON.parse(stdout) as number[];
  expect(niceness.length).toBeGreaterThan(4);
  expect(new Set(niceness)).toEqual(new Set([19]));
});
