import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const THREADS = new URL('../../src/threads/index.ts', import.meta.url).href;

/** In a separate process, which keeps the lowest priority. */
it.runIf(process.platform === 'linux')(
  'yieldToReaders() lowers the priority of all threads, even if some threads end during the call',
  async () => {
    const script = `import { readdirSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { Worker } from 'node:worker_threads';
    import { yieldToReaders } from '${THREADS}';
    for (let round = 0; round < 20; round++) {
      const workers = Array.from({ length: 4 }, () => new Worker('', { eval: true }));
      for (let at = 0; at < 1_500; at++) yieldToReaders();
      await Promise.all(workers.map((worker) => new Promise((resolve) => worker.once('exit', resolve))));
    }
    console.log(JSON.stringify(readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)))));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const niceness = JSON.parse(stdout) as number[];
    expect(niceness.length).toBeGreaterThan(4);
    expect(new Set(niceness)).toEqual(new Set([10]));
  },
);

it.runIf(process.platform === 'linux')(
  'yieldToReaders() lowers the priority of all threads if the main thread calls it, but only of the caller if a worker thread calls it',
  async () => {
    const script = `import { readdirSync } from 'node:fs';
    import { getPriority } from 'node:os';
    import { Worker } from 'node:worker_threads';
    import { yieldToReaders } from '${THREADS}';
    const nicenessOfAll = () => readdirSync('/proc/self/task').map((thread) => getPriority(Number(thread)));
    const inThread = "import { parentPort } from 'node:worker_threads'; import { yieldToReaders } from '${THREADS}'; yieldToReaders(); parentPort.on('message', () => process.exit()).postMessage(null);";
    const worker = new Worker(inThread, { eval: true });
    await new Promise((resolve) => worker.once('message', resolve));
    const ofThread = nicenessOfAll();
    worker.postMessage(0);
    await new Promise((resolve) => worker.once('exit', resolve));
    yieldToReaders();
    console.log(JSON.stringify([ofThread.sort((a, b) => b - a), nicenessOfAll()]));`;
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script]);
    const [ofThread, ofProcess] = JSON.parse(stdout) as [number[], number[]];
    expect(ofThread.slice(0, 2)).toEqual([10, 0]);
    expect(ofProcess.length).toBeGreaterThan(4);
    expect(new Set(ofProcess)).toEqual(new Set([10]));
  },
);
