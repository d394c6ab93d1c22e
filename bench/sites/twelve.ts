import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, DaemonProcess } from '../../test/helpers/daemon.ts';
import { residentMiBOf } from '../../test/helpers/process-facts.ts';
import { SiteClient } from '../../test/helpers/site-client.ts';
import { configOf, loadNow, type StartedShelf, startAgain, startShelf } from './shelf.ts';

const ROUND_MS = 3_000;
const ROUNDS = 7;
const CONNECTIONS = 16;
const LARGE = /^(?:docusaurus|mixed|nextjs|postgres-15\.tar|sphinx-manual|starlight|vitepress)/;

/** Twelve sites of the corpus: memory, time until all are served, and requests per second compared with one site. */
export async function benchTwelve(bench: Bench, corpus: string): Promise<void> {
  const names = (await readdir(join(corpus, 'bundles'))).filter((name) => LARGE.test(name));
  const placed = Array.from({ length: 12 }, (_, at) => ({
    domain: `site-${at}`,
    archive: join(corpus, 'bundles', names[at % names.length] ?? ''),
  }));
  const first = await startShelf(bench, placed);
  console.log(
    `twelve sites of the corpus: all served after ${first.seconds.toFixed(1)} s of a first start, ${loadNow()}`,
  );
  const { daemon: twelve, seconds } = await startAgain(bench, first, 12);
  console.log(`a second start: all served after ${seconds.toFixed(1)} s, ${loadNow()}`);
  console.log(`resident: ${(await residentMiBOf(twelve.pid)).toFixed(0)} MiB (aim 300)`);
  const { daemon: one } = await startShelf(bench, placed.slice(0, 1));
  const ratios: number[] = [];
  const spread: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    // In a pair, each goes first equally often.
    const pair = round % 2 === 0 ? [one, twelve] : [twelve, one];
    const rates = new Map<DaemonProcess, number>();
    for (const daemon of pair) rates.set(daemon, await rate(daemon, ['/site-0/']));
    ratios.push((rates.get(twelve) ?? 0) / (rates.get(one) ?? 1));
    spread.push(
      await rate(
        twelve,
        placed.map(({ domain }) => `/${domain}/`),
      ),
    );
    console.log(
      `one site ${rates.get(one)?.toFixed(0)} a second, the same page of twelve ${rates.get(twelve)?.toFixed(0)}`,
    );
  }
  console.log(
    `requests a second, twelve sites beside one, median of ${ROUNDS} pairs: ${median(ratios).toFixed(2)} (aim .95); spread over twelve ${median(spread).toFixed(0)}, ${loadNow()}`,
  );
  await one.stop();
  await benchSearched(
    bench,
    { daemon: twelve, folder: first.folder },
    placed.map(({ domain }) => domain),
  );
}

/** The same sites with the model, each searched once: resident memory, and the child process that embeds. */
async function benchSearched(
  bench: Bench,
  started: Pick<StartedShelf, 'daemon' | 'folder'>,
  domains: string[],
): Promise<void> {
  const config = { ...configOf(domains), search: { model: 'builtin' } };
  const { daemon } = await startAgain(bench, started, domains.length, config);
  await daemon.until(({ sites }) => sites?.every(({ search }) => search?.keyword === 'ready') === true);
  const times: number[] = [];
  for (const domain of domains) {
    const beganMs = performance.now();
    const answer = await fetch(`${daemon.site}/${domain}/_docshelf/search?q=how+to+configure`);
    if (!answer.ok) throw new Error(`the search of ${domain} answered ${answer.status}`);
    await answer.arrayBuffer();
    times.push(performance.now() - beganMs);
  }
  const told = times.map((ms) => ms.toFixed(0)).join(', ');
  console.log(
    `with the model, each site searched once: ${(await residentMiBOf(daemon.pid)).toFixed(0)} MiB resident; ${told} ms, ${loadNow()}`,
  );
  await daemon.stop();
}

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Requests per second over keep-alive connections. */
async function rate(daemon: DaemonProcess, paths: readonly string[]): Promise<number> {
  const client = new SiteClient(daemon.site, CONNECTIONS);
  const endMs = performance.now() + ROUND_MS;
  let answers = 0;
  const ask = async (first: number): Promise<void> => {
    for (let at = first; performance.now() < endMs; at += 1) {
      const { status } = await client.get(paths[at % paths.length] ?? '/');
      if (status !== 200) throw new Error(`${status} for ${paths[at % paths.length]}`);
      answers += 1;
    }
  };
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => ask(at)));
  client.close();
  return answers / (ROUND_MS / 1000);
}
