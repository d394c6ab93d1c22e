import { mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { residentMiBOf } from '../../test/helpers/process-facts.ts';
import { diskBytes } from '../growth/measure.ts';
import { processorSeconds, type Taken, watchProcesses } from '../growth/processes.ts';
import { childrenOf } from '../serve/process-tree.ts';
import { Questions } from './http-latency.ts';
import { quantile, timesOf } from './latency.ts';
import { ARCHIVE, type ServedBundle, serveFolder } from './served-bundle.ts';
import { packSynthetic } from './synthetic-bundle.ts';
import { tableOf } from './table.ts';
import { readTestSets } from './test-set.ts';

/**
 * `DOCSHELF_CORPUS=<folder> node bench/search/large.ts [sections] [memory]`, with a build: one site of a million sections in the
 * embedded index with artificial vectors, from the archive to responses of the endpoint. `memory` is `search.memory`. Linux
 * only.
 */
const [count = '1000000', memory = '1GiB'] = process.argv.slice(2);
const HITS = 10;
const MIB = 1024 ** 2;

const sets = readTestSets();
const questions = new Questions(sets.flatMap((set) => set.queries).map(({ query }) => query));
const rows: string[][] = [];
const note = (what: string, figure: string): void => {
  rows.push([what, figure, loadavg()[0]?.toFixed(1) ?? '']);
  console.error(rows.at(-1)?.join(' | '));
};
const mib = (bytes: number): string => `${(bytes / MIB).toFixed(0)} MiB`;

const folder = mkdtempSync(join(tmpdir(), 'docshelf-bench-large-'));
try {
  await packSynthetic(sets, Number(count), join(folder, ARCHIVE));
  note('archive, fast compression', mib(statSync(join(folder, ARCHIVE)).size));
  const built = await start('builtin');
  noteTaken('first start to ready by words and meaning', built);
  const data = join(folder, 'data');
  const [release = ''] = readdirSync(join(data, 'releases'));
  note('index, vectors among it', mib(diskBytes(join(data, 'releases', release, 'search'))));
  note('data folder, pages and what the bundle carries among it', mib(diskBytes(data)));
  await built.served.close();

  for (const model of ['builtin', 'off'] as const) {
    const again = await start(model);
    noteTaken(`second start, model ${model}, to ready`, again);
    await measure(again.served, model);
    await again.served.close();
  }
} finally {
  rmSync(folder, { recursive: true });
}
console.log(`\n## One site of ${Number(count).toLocaleString('en')} sections, search.memory ${memory}\n`);
console.log(tableOf(['', 'measured', 'load'], rows));

interface Started {
  readonly served: ServedBundle;
  readonly seconds: number;
  readonly taken: Taken;
}

async function start(model: 'builtin' | 'off'): Promise<Started> {
  const fromMs = performance.now();
  let end: (() => Taken) | null = null;
  const onStart = (pid: number): void => {
    end = watchProcesses(pid);
  };
  const served = await serveFolder(folder, { model, memory, onStart });
  const seconds = (performance.now() - fromMs) / 1_000;
  const taken = (end as (() => Taken) | null)?.();
  if (taken === undefined) throw new Error('nothing watched the daemon');
  return { served, seconds, taken };
}

function noteTaken(what: string, { seconds, taken }: Started): void {
  const { daemonSeconds, childrenSeconds, daemonMiB, childrenMiB, sumMiB } = taken;
  note(what, `${seconds.toFixed(0)} s; processor ${daemonSeconds.toFixed(0)} + ${childrenSeconds.toFixed(0)} s`);
  const peaks = [daemonMiB, childrenMiB, sumMiB].map((peak) => peak.toFixed(0));
  note('the most of the daemon, of the process that indexes, of both at one moment', `${peaks.join(', ')} MiB`);
}

async function measure(served: ServedBundle, model: 'builtin' | 'off'): Promise<void> {
  // Stop the compression of pages, which would run for an hour at the lowest priority.
  for (const child of await childrenOf(served.pid)) process.kill(child, 'SIGSTOP');
  const [question = ''] = questions.again;
  const fromMs = performance.now();
  await served.search(question, HITS);
  note('first query of all', `${(performance.now() - fromMs).toFixed(0)} ms`);
  await timesOf(served, questions.again, HITS);
  for (const kind of model === 'off' ? (['again'] as const) : (['first', 'again'] as const)) {
    const asked = questions[kind];
    const before = processorSeconds(served.pid);
    const times = await timesOf(served, asked, HITS);
    const ms = ((processorSeconds(served.pid) - before) * 1_000) / asked.length;
    const figures = [0.5, 0.99].map((part) => quantile(times, part).toFixed(1)).join(', ');
    const name = model === 'off' ? 'keywords' : `hybrid, ${kind}`;
    note(`${name}: p50, p99; processor time of one`, `${figures} ms; ${ms.toFixed(1)} ms`);
  }
  note('resident after them', `${(await residentMiBOf(served.pid)).toFixed(0)} MiB`);
  for (const child of await childrenOf(served.pid)) process.kill(child, 'SIGCONT');
}
