/**
 * Cost of counting one request of an organization: in the data folder, and in PostgreSQL with one and four daemons. `node
 * bench/limits/run.ts`
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { FolderCounter } from '../../src/http/limits/folder-counter.ts';
import type { RequestCounter } from '../../src/http/limits/organization-rates.ts';
import { PostgresCounter } from '../../src/http/limits/postgres-counter.ts';
import { openTestDatabase } from '../../test/database/open.ts';
import { PostgresServer } from '../../test/helpers/postgres.ts';
import { quantile } from '../latencies.ts';

/** Each request is allowed, and therefore written. */
const POLICY = { requestsMax: 10_000_000, windowMs: 3600_000 };
const COUNT = 10_000;
const REPLICAS = 4;

interface Measured {
  readonly times: readonly number[];
  readonly ms: number;
}

async function measure(counter: RequestCounter, count: number, atOnce: number): Promise<Measured> {
  const times: number[] = [];
  let left = count;
  const beganMs = performance.now();
  const client = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const askedMs = performance.now();
      await counter.take('acme');
      times.push(performance.now() - askedMs);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, client));
  return { times, ms: performance.now() - beganMs };
}

function print(name: string, { times, ms }: Measured): void {
  const [p50, p99] = [quantile(times, 0.5), quantile(times, 0.99)].map((each) => each.toFixed(4));
  process.stdout.write(`${name}: p50 ${p50} ms, p99 ${p99} ms, ${Math.round((1000 * times.length) / ms)} a second\n`);
}

async function measureShared(url: string, count: number, atOnce: number): Promise<Measured> {
  const database = openTestDatabase(url);
  const counter = new PostgresCounter(database, POLICY);
  await counter.take('acme');
  const measured = await measure(counter, count, atOnce);
  await database.close();
  return measured;
}

async function main(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'docshelf-bench-'));
  const onFault = (error: unknown): void => {
    throw error;
  };
  const counter = new FolderCounter({ dir, onFault, policy: POLICY });
  print('data folder, one after the other', await measure(counter, COUNT, 1));
  counter.close();
  await rm(dir, { recursive: true });

  // Default settings. Those of the test helper are for tests.
  const settings = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'autovacuum=on'];
  const server = await PostgresServer.start(settings);
  const url = await server.createDatabase();
  await measureShared(url, COUNT, 64);
  for (const atOnce of [1, 64])
    print(`PostgreSQL, one daemon, ${atOnce} at once`, await measureShared(url, COUNT, atOnce));
  for (const atOnce of [1, 16]) {
    const run = promisify(execFile);
    const args = [import.meta.filename, url, String(COUNT / REPLICAS), String(atOnce)];
    const outputs = await Promise.all(
      Array.from({ length: REPLICAS }, () => run(process.execPath, args, { maxBuffer: 2 ** 24 })),
    );
    const all = outputs.map(({ stdout }) => JSON.parse(stdout) as Measured);
    const times = all.flatMap((each) => each.times);
    print(`PostgreSQL, ${REPLICAS} daemons, ${atOnce} at once in each`, {
      times,
      ms: Math.max(...all.map(({ ms }) => ms)),
    });
  }
  await server.stop();
}

const [url, count, atOnce] = process.argv.slice(2);
if (url === undefined) await main();
else process.stdout.write(JSON.stringify(await measureShared(url, Number(count), Number(atOnce))));
