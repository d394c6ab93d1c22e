import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { gz, rawTar } from '../../test/helpers/archives.ts';
import { type Bench, type DaemonProcess, openBench } from '../../test/helpers/daemon.ts';
import { residentMiBOf } from '../../test/helpers/process-facts.ts';
import { SiteClient } from '../../test/helpers/site-client.ts';

/**
 * Many sites in one daemon: memory, time to all served, requests a second beside the daemon of one site, and the same for 100
 * and 1,000 small ones. DOCSHELF_CORPUS names the folder of real bundles; without it only small sites are measured.
 */

const ROUND_MS = 3_000;
const ROUNDS = 5;
const CONNECTIONS = 16;
const READY_MS_MAX = 1_800_000;
const LARGE = /^(?:docusaurus|mixed|nextjs|postgres-15\.tar|sphinx-manual|starlight|vitepress)/;

const ends: (() => Promise<void>)[] = [];
const bench: Bench = openBench((end) => ends.push(end));

interface Placed {
  readonly domain: string;
  readonly archive: string | Uint8Array;
}

/** A daemon with these, each below a path of its own; resolves when all are served. */
async function start(placed: readonly Placed[]): Promise<{ daemon: DaemonProcess; seconds: number; folder: string }> {
  const folder = await bench.folder();
  for (const { domain, archive } of placed) {
    const into = join(folder, 'bundles', domain);
    await mkdir(into, { recursive: true });
    const name = typeof archive === 'string' ? (archive.split('/').at(-1) ?? '') : 'docs-2024-06-01.tar.gz';
    if (typeof archive === 'string') await copyFile(archive, join(into, name));
    else await writeFile(join(into, name), archive);
  }
  const beganMs = performance.now();
  const daemon = await bench.start(configOf(placed.map(({ domain }) => domain)), { folder });
  await allServed(daemon, placed.length);
  return { daemon, seconds: (performance.now() - beganMs) / 1000, folder };
}

const configOf = (domains: readonly string[]) => ({
  staticExport: null,
  log: { access: false },
  sites: domains.map((domain) => ({ domain, basePath: `/${domain}`, staticExport: { enabled: true } })),
});

const allServed = (daemon: DaemonProcess, count: number) =>
  daemon.until(({ sites }) => sites?.filter(({ active }) => active !== null).length === count, READY_MS_MAX);

/** Requests a second over keep-alive connections. */
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

const median = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

function smallSite(domain: string): Uint8Array {
  const page = (name: string) =>
    `<!doctype html><html lang="en"><title>${name} of ${domain}</title><h1>${name}</h1><p>${domain} ${'words '.repeat(200)}</p>`;
  return gz(
    rawTar([
      { name: 'index.html', body: page('Home') },
      { name: 'guide.html', body: page('Guide') },
    ]),
  );
}

async function twelve(corpus: string): Promise<void> {
  const names = (await readdir(join(corpus, 'bundles'))).filter((name) => LARGE.test(name));
  const placed = Array.from({ length: 12 }, (_, at) => ({
    domain: `site-${at}`,
    archive: join(corpus, 'bundles', names[at % names.length] ?? ''),
  }));
  const many = await start(placed);
  console.log(`twelve sites of the corpus: all served after ${many.seconds.toFixed(1)} s of a first start`);
  await many.daemon.stop();
  const again = performance.now();
  const second = await bench.start(null, { folder: many.folder });
  await allServed(second, 12);
  console.log(`a second start: all served after ${((performance.now() - again) / 1000).toFixed(1)} s`);
  console.log(`resident: ${(await residentMiBOf(second.pid)).toFixed(0)} MiB (aim 300)`);
  const one = await start(placed.slice(0, 1));
  const [single, ofTwelve, spread]: number[][] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    single?.push(await rate(one.daemon, ['/site-0/']));
    ofTwelve?.push(await rate(second, ['/site-0/']));
    spread?.push(
      await rate(
        second,
        placed.map(({ domain }) => `/${domain}/`),
      ),
    );
  }
  const alone = median(single ?? []);
  console.log(
    `requests a second, medians of ${ROUNDS} interleaved rounds: one site ${alone.toFixed(0)}, the same page of twelve sites ${median(ofTwelve ?? []).toFixed(0)} (ratio ${(median(ofTwelve ?? []) / alone).toFixed(2)}, aim .95), spread over twelve ${median(spread ?? []).toFixed(0)}`,
  );
  for (const daemon of [second, one.daemon]) await daemon.stop();
}

async function small(count: number): Promise<void> {
  const domains = Array.from({ length: count }, (_, at) => `small-${at}`);
  const { daemon, seconds, folder } = await start(domains.map((domain) => ({ domain, archive: smallSite(domain) })));
  await daemon.stop();
  const again = performance.now();
  const second = await bench.start(null, { folder });
  await allServed(second, count);
  const readyS = (performance.now() - again) / 1000;
  const resident = await residentMiBOf(second.pid);
  const config = configOf(domains);
  const changed = {
    ...config,
    sites: config.sites.map((site, at) => (at === 0 ? { ...site, staticExport: { enabled: true, keep: 9 } } : site)),
  };
  await writeFile(
    join(folder, 'config.yaml'),
    stringify({
      server: { host: '127.0.0.1', port: 0 },
      admin: { port: 0 },
      api: { port: 0 },
      storage: { dir: './data' },
      ...changed,
      staticExport: undefined,
    }),
  );
  const reloadMs = performance.now();
  second.signal('SIGHUP');
  await second.until(({ lastReload }) => lastReload?.ok === true, READY_MS_MAX);
  console.log(
    `${count} small sites: first start ${seconds.toFixed(1)} s, second start ${readyS.toFixed(1)} s, ${resident.toFixed(0)} MiB resident, a reload that changes one ${(performance.now() - reloadMs).toFixed(0)} ms (aim 1,000 at 1,000 sites)`,
  );
  await second.stop();
}

try {
  if (process.env.DOCSHELF_CORPUS !== undefined) await twelve(process.env.DOCSHELF_CORPUS);
  const counts = (process.env.DOCSHELF_BENCH_SITES ?? '100,1000').split(',').map(Number);
  for (const count of counts) await small(count);
} finally {
  for (const end of ends) await end();
}
