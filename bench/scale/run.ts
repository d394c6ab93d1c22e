import { openBench } from '../../test/helpers/daemon.ts';
import { endFile } from '../../test/helpers/file-end.ts';
import { HAS_POSTGRES, PostgresServer } from '../../test/helpers/postgres.ts';
import { HAS_NGINX } from '../../test/helpers/round-robin.ts';
import { isThere } from '../serve/servers.ts';
import { CoreShare } from './core-share.ts';
import { benchJobs } from './jobs.ts';
import { benchQueue } from './queue.ts';
import { benchPages, benchSearch } from './serve.ts';

/**
 * `DOCSHELF_CORPUS=<folder> node bench/scale/run.ts [queue | jobs | pages | search]`, with a build: jobs per minute with 1, 2
 * and 4 workers, requests and searches per second with one and two replicas, and the cost of a job in the database. Needs
 * PostgreSQL, nginx, wrk and Linux. The load, the database and nginx also use the two cores, so a second process cannot double
 * the rate. Therefore it measures twice: with each worker and replica limited to a part of a core, and without a limit
 * (DOCSHELF_BENCH_CORES=0.25,all). Prints medians of DOCSHELF_BENCH_ROUNDS rounds.
 */
const { DOCSHELF_BENCH_ROUNDS: rounds = '3', DOCSHELF_BENCH_CORES: shares = '0.25,all' } = process.env;
const [part] = process.argv.slice(2);
const isAsked = (name: string): boolean => part === undefined || part === name;
/** Default settings. Those of the test helper are for tests. */
const SETTINGS = ['fsync=on', 'synchronous_commit=on', 'full_page_writes=on', 'autovacuum=on'];

if (!HAS_POSTGRES || !HAS_NGINX || !isThere('wrk'))
  throw new Error('bench:scale needs PostgreSQL, nginx and wrk: apt-get install postgresql nginx-light wrk');
const ends: (() => Promise<void>)[] = [];
const bench = openBench((end) => ends.push(end));
try {
  if (isAsked('queue')) await benchQueue(await PostgresServer.start(SETTINGS));
  for (const share of shares.split(',')) {
    const cores = share === 'all' ? null : Number(share);
    // Load, proxy, API and database are not limited, so that the measured processes do not wait for them.
    const own = cores === null ? null : CoreShare.of(process.pid, null);
    if (isAsked('jobs'))
      await benchJobs(bench, await PostgresServer.start(SETTINGS), { rounds: Number(rounds), cores });
    if (isAsked('pages')) await benchPages(bench, { rounds: Number(rounds), cores });
    if (isAsked('search')) await benchSearch(bench, { rounds: Number(rounds), cores });
    own?.close();
  }
} finally {
  for (const end of ends) await end();
  await endFile();
}
