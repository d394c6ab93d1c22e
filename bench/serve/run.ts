import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { gz, rawTar } from '../../test/helpers/archives.ts';
import { withDefaults } from '../../test/helpers/daemon.ts';
import { type Page, writePages } from '../export/pages.ts';
import { cpuMsOfAll } from './process-tree.ts';
import { isThere, SERVER_CORE, type Server, startBare, startCaddy, startDocshelf, startNginx } from './servers.ts';
import { runWrk } from './wrk.ts';

/**
 * Requests per second of the site listener, of a bare node:http server that sends the same bytes, and of nginx and Caddy if they
 * are installed. Interleaved rounds, with each server on one core and wrk on the other. Prints medians of the ratios within
 * rounds. An argument selects cases by a part of their name. Also prints processor time per request of the best round, which
 * depends less on other load.
 */

const ROUNDS = Number(process.env.DOCSHELF_BENCH_ROUNDS ?? 5);
const ROUND_S = 3;
const CONNECTIONS = 32;
const PAGES = 1_000;
const CLIENT_CORE = '1';
const HOT = '/section-0/page-0.html';

interface Case {
  readonly name: string;
  readonly targets: readonly string[];
  /** Fewer for large files, because incomplete responses at the end do not count. */
  readonly connections?: number;
  headers(server: Server): Promise<Record<string, string>>;
}

const none = async () => ({});

const casesOf = (pages: readonly Page[]): readonly Case[] => [
  { name: 'one hot page', targets: [`${HOT}?hot`], headers: none },
  {
    name: `${PAGES} pages in random order, gzip`,
    targets: pages.map(({ path }) => `/${path}`),
    headers: async () => ({ 'Accept-Encoding': 'gzip' }),
  },
  { name: '304', targets: [`${HOT}?304`], headers: async ({ origin }) => ({ 'If-None-Match': await tagOf(origin) }) },
  { name: '404', targets: ['/nowhere.html'], headers: none },
  { name: '50 MB, whole', targets: ['/large.bin'], connections: 4, headers: none },
  {
    name: '50 MB by ranges of 1 MiB',
    targets: ['/large.bin?range'],
    connections: 8,
    headers: async () => ({ Range: 'bytes=20000000-21048575' }),
  },
  {
    name: '29 MB of JSON, gzip',
    targets: ['/data.json'],
    connections: 4,
    headers: async () => ({ 'Accept-Encoding': 'gzip' }),
  },
];

async function tagOf(origin: string): Promise<string> {
  return (await fetch(`${origin}${HOT}`, { headers: { 'Accept-Encoding': 'identity' } })).headers.get('etag') ?? '';
}

interface Measured {
  readonly rate: number;
  readonly cpuUs: number;
}

async function measure(
  server: Server,
  { name, targets, connections, headers }: Case,
  folder: string,
): Promise<Measured> {
  const pid = server.process.pid ?? 0;
  const beforeMs = await cpuMsOfAll(pid);
  const { rate, requests, refused } = await runWrk(
    server.origin,
    {
      targets,
      connections: connections ?? CONNECTIONS,
      seconds: ROUND_S,
      headers: await headers(server),
      cores: CLIENT_CORE,
    },
    folder,
  );
  const cpuMs = (await cpuMsOfAll(pid)) - beforeMs;
  if (refused !== (name === '404' ? requests : 0)) throw new Error(`${server.name}, ${name}: ${refused} refused`);
  return { rate, cpuUs: (cpuMs * 1000) / requests };
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;

/** Ratio to another server in the same round. */
function ratio(ours: readonly Measured[], theirs: readonly Measured[] | undefined): string {
  if (theirs === undefined) return '';
  return median(ours.map(({ rate }, round) => rate / (theirs[round]?.rate ?? Number.NaN))).toFixed(2);
}

function makeBundle(folder: string): { pages: readonly Page[]; root: string; bundles: string } {
  const root = join(folder, 'site');
  const bundles = join(folder, 'bundles');
  mkdirSync(bundles);
  const pages = writePages(root, PAGES);
  const entries = pages.map(({ path, file }) => ({ name: path, body: readFileSync(file, 'utf8') }));
  const index = { name: 'index.html', body: '<!doctype html><title>Home</title>' };
  const large = makeLarge();
  for (const { name, body } of large) writeFileSync(join(root, name), body);
  writeFileSync(join(bundles, 'docs-2024-06-01.tar.gz'), gz(rawTar([index, ...entries, ...large])));
  for (const { file } of pages) writeFileSync(`${file}.gz`, gzipSync(readFileSync(file), { level: 6 }));
  return { pages, root, bundles };
}

/** Text with compressed files, which docshelf does not need to create, and of which nginx sends one. */
function makeLarge(): readonly { readonly name: string; readonly body: Buffer }[] {
  const words = Array.from({ length: 20_000 }, () => randomBytes(6).toString('hex'));
  const rows: string[] = [];
  for (let bytes = 0; bytes < 29_000_000; bytes += rows.at(-1)?.length ?? 0) {
    const at = (step: number): string => words[(rows.length * step) % words.length] ?? '';
    rows.push(JSON.stringify({ id: rows.length, title: at(7), text: `${at(3)} ${at(11)} ${at(13)} ${at(17)}` }));
  }
  const json = Buffer.from(`[${rows.join(',\n')}]`);
  const fast = { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } };
  return [
    { name: 'large.bin', body: randomBytes(50_000_000) },
    { name: 'data.json', body: json },
    { name: 'data.json.gz', body: gzipSync(json, { level: 6 }) },
    { name: 'data.json.br', body: brotliCompressSync(json, fast) },
  ];
}

function writeConfig(folder: string, bundles: string, access: boolean): string {
  const file = join(folder, `access-${access}.yaml`);
  const config = withDefaults({
    staticExport: { preload: bundles },
    storage: { dir: `./data-${access}` },
    search: { enabled: false },
    log: { access },
  });
  writeFileSync(file, stringify(config));
  return file;
}

/** Interleaved, so that other load affects all servers equally. */
async function rounds(servers: readonly Server[], each: Case, folder: string): Promise<Map<string, Measured[]>> {
  const measured = new Map<string, Measured[]>(servers.map(({ name }) => [name, []]));
  for (let round = 0; round <= ROUNDS; round += 1) {
    // Each server is the first one in turn.
    const from = round % servers.length;
    for (const server of [...servers.slice(from), ...servers.slice(0, from)]) {
      const figures = await measure(server, each, folder);
      // The first round warms up.
      if (round > 0) measured.get(server.name)?.push(figures);
    }
  }
  return measured;
}

function print(name: string, measured: ReadonlyMap<string, Measured[]>): void {
  console.log(
    `\n| ${name} | a second | to bare | to nginx | processor µs a request | bare's to it |\n|---|---|---|---|---|---|`,
  );
  const bareUs = leastUs(measured.get('bare') ?? []);
  for (const [server, figures] of measured) {
    const ratios = ['bare', 'nginx'].map((peer) => ratio(figures, measured.get(peer)));
    const rate = median(figures.map(({ rate: each }) => each)).toFixed(0);
    const cpuUs = leastUs(figures);
    console.log(
      `| ${server} | ${rate} | ${ratios.join(' | ')} | ${cpuUs.toFixed(1)} | ${(bareUs / cpuUs).toFixed(2)} |`,
    );
  }
}

/** Minimum, which is the round with the least other load. */
const leastUs = (figures: readonly Measured[]): number => Math.min(...figures.map(({ cpuUs }) => cpuUs));

for (const needed of ['wrk', 'taskset']) {
  if (!isThere(needed)) throw new Error(`bench:serve needs ${needed}: apt-get install wrk util-linux`);
}
if (availableParallelism() < 2) throw new Error('bench:serve needs two cores');
const folder = mkdtempSync(join(tmpdir(), 'docshelf-bench-serve-'));
const servers: Server[] = [];
try {
  const { pages, root, bundles } = makeBundle(folder);
  const cases = casesOf(pages).filter(({ name }) => name.includes(process.argv[2] ?? ''));
  for (const access of [false, true]) {
    const name = `docshelf, access log ${access ? 'on' : 'off'}`;
    servers.push(await startDocshelf(name, folder, writeConfig(folder, bundles, access), SERVER_CORE));
  }
  const [docshelf] = servers as [Server];
  const asked: [string, Record<string, string>][] = [];
  for (const { targets, headers } of cases) {
    const sent = await headers(docshelf);
    for (const target of targets) asked.push([target, sent]);
  }
  // Load all files into memory, so that compression is not measured.
  for (const { origin } of servers) {
    for (const [target, headers] of asked) await (await fetch(`${origin}${target}`, { headers })).arrayBuffer();
  }
  servers.push(await startBare(docshelf.origin, asked));
  for (const peer of [await startNginx(folder, root), await startCaddy(folder, root)]) {
    if (peer !== null) servers.push(peer);
  }
  for (const each of cases) print(each.name, await rounds(servers, each, folder));
} finally {
  for (const { process: child } of servers) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
