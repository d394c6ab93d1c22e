import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench, DaemonProcess } from '../../test/helpers/daemon.ts';
import { latencies, quantile } from '../latencies.ts';
import { loadNow, startShelf, TOKEN } from './shelf.ts';

const ROUNDS = 5;
const IDLE_MS = 10_000;
const READ = ['/site-0/', '/site-1/'];
/** The bundle of the corpus with the most pages. */
const IMPORTED = 'postgres-15.tar.gz';

/** Latency of two idle sites while a large bundle is imported into a third, compared with idle moments just before. */
export async function benchNeighbours(bench: Bench, corpus: string): Promise<void> {
  const fileOf = (name: string): string => join(corpus, 'bundles', name);
  const archive = fileOf('docusaurus-classic.tar.gz');
  const domains = ['site-0', 'site-1', 'site-2'];
  const { daemon } = await startShelf(
    bench,
    domains.map((domain) => ({ domain, archive })),
  );
  await daemon.until(({ sites }) => sites?.every(({ search }) => search?.keyword === 'ready') === true);
  const bytes = await readFile(fileOf(IMPORTED));
  const ratios: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const idle = await latencies(daemon.site, READ, sleep(IDLE_MS));
    // Another time in gzip's header (RFC 1952) makes a new bundle.
    bytes.writeUInt32LE(round + 1, 4);
    const beganMs = performance.now();
    const busy = await latencies(daemon.site, READ, importInto(daemon, 'site-2', bytes, `v${round}`));
    const seconds = (performance.now() - beganMs) / 1000;
    ratios.push(quantile(busy, 0.99) / quantile(idle, 0.99));
    console.log(
      `import of ${seconds.toFixed(1)} s: p50, p99, most in ms ${summaryOf(busy)}; idle ${summaryOf(idle)}; p99 ratio ${ratios.at(-1)?.toFixed(1)}, ${loadNow()}`,
    );
  }
  console.log(
    `p99 of untouched sites during an import beside idle, median of ${ROUNDS} pairs: ${quantile(ratios, 0.5).toFixed(1)} (aim 3)`,
  );
  await daemon.stop();
}

async function importInto(
  daemon: DaemonProcess,
  domain: string,
  body: Uint8Array<ArrayBuffer>,
  version: string,
): Promise<void> {
  const address = `${daemon.admin}/v1/sites/${domain}/bundles/docs-${version}.tar.gz`;
  const answer = await fetch(address, { method: 'PUT', headers: { authorization: `Bearer ${TOKEN}` }, body });
  if (!answer.ok) throw new Error(`the import answered ${answer.status}: ${await answer.text()}`);
}

const summaryOf = (rising: readonly number[]): string =>
  [0.5, 0.99, 1].map((part) => quantile(rising, part).toFixed(1)).join(', ');
