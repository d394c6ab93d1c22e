import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'vitest';
import { importBundle, newHome } from '../helpers/corpus.ts';
import type { Bench, DaemonProcess } from '../helpers/daemon.ts';
import { decodeBody } from '../helpers/decode-body.ts';
import { residentMiBOf } from '../helpers/process-facts.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { type Answer, SiteClient } from '../helpers/site-client.ts';

const run = promisify(execFile);

interface LoadSize {
  readonly pages: number;
  readonly downloads: number;
  readonly downloadBytes: number;
}

/** 2 GiB in 16,064 files, like a site with downloads. */
export const LARGE_SIZE: LoadSize = { pages: 16_000, downloads: 64, downloadBytes: 16 * 1024 ** 2 };
export const SMALL_SIZE: LoadSize = { pages: 200, downloads: 4, downloadBytes: 1024 ** 2 };

const PAGE_BYTES = 64 * 1024;
const CLIENTS = 24;
const CONNECTIONS = 2_000;
/** Number of samples of the resident memory during the load. */
const SAMPLES = 20;

/**
 * Requests random pages and downloads: whole, in ranges, in all encodings, with conditions, missing paths, and with early
 * disconnects. Checks each response, and twice that 2,000 open connections all get responses. @returns resident memory of the
 * daemon over that time, in MiB, at least two values
 */
export async function loadAtRandom(bench: Bench, seconds: number, size: LoadSize): Promise<readonly number[]> {
  const folder = await newHome(bench, { search: { enabled: false } });
  await importSite(bench, folder, size);
  const daemon = await bench.start(null, { folder });
  await daemon.untilServing('v1');

  const load = new RandomLoad(daemon, size);
  bench.onEnd(() => load.close());
  await load.run(seconds);
  const { seed, samples, requests: asked, faults } = load;
  const figures = samples.map((mib) => Math.round(mib)).join(', ');
  console.log(
    `figure: load: ${[...asked].map(([what, count]) => `${count} ${what}`).join(', ')} in ${seconds} s, seed ${seed}`,
  );
  console.log(`figure: load: resident MiB, every ${Math.round(seconds / SAMPLES)} s: ${figures}`);
  expect(faults.slice(0, 20)).toEqual([]);
  // Downloads are rare, so one kind may be missing.
  expect(asked.size).toBeGreaterThanOrEqual(Object.keys(load.ways).length - 1);

  const answered = await sendOnConnections(daemon, CONNECTIONS);
  console.log(
    `figure: load: ${answered} answers on ${CONNECTIONS} connections, ${Math.round(await residentMiBOf(daemon.pid))} MiB resident with them`,
  );
  expect(answered).toBe(2 * CONNECTIONS);
  return samples;
}

/** Each page is different and contains its number. */
function pageOf(page: number): string {
  const words = createHash('shake256', { outputLength: PAGE_BYTES / 4 })
    .update(`page ${page}`)
    .digest('hex');
  return `<!doctype html><title>Page ${page}</title>\n${words.replace(/.{64}/g, '<p>$&</p>\n')}`;
}

function downloadOf(download: number, bytes: number): Buffer {
  return createHash('shake256', { outputLength: bytes }).update(`download ${download}`).digest();
}

async function importSite(bench: Bench, home: string, { pages, downloads, downloadBytes }: LoadSize): Promise<void> {
  const folder = await bench.folder();
  const site = join(folder, 'site');
  for (let page = 0; page < pages; page++) {
    if (page % 500 === 0) await mkdir(join(site, `part-${page / 500}`), { recursive: true });
    await writeFile(join(site, pathOf(page)), pageOf(page));
  }
  await writeFile(join(site, 'index.html'), pageOf(-1));
  for (let at = 0; at < downloads; at++)
    await writeFile(join(site, `download-${at}.bin`), downloadOf(at, downloadBytes));
  const archive = join(folder, 'site.tar');
  await run('tar', ['-cf', archive, '-C', site, '.']);
  await rm(site, { recursive: true });
  await importBundle(bench, home, archive, ['--version', 'v1']);
  await rm(archive);
}

const pathOf = (page: number): string => `part-${Math.floor(page / 500)}/page-${page}.html`;

class RandomLoad {
  readonly faults: string[] = [];
  readonly samples: number[] = [];
  /** Number of requests by kind. */
  readonly requests = new Map<string, number>();
  readonly #daemon: DaemonProcess;
  readonly #client: SiteClient;
  readonly #size: LoadSize;
  readonly #random = new SeededRandom(seedOfEnvironment());

  /** Each returns the problem that it found, or null. */
  readonly ways: Readonly<Record<string, () => Promise<string | null>>> = {
    pages: () => this.#page('identity'),
    'pages by gzip': () => this.#page('gzip'),
    'pages by Brotli': () => this.#page('br'),
    ranges: () => this.#range(),
    conditions: () => this.#condition(),
    'missing pages': async () => this.#expect(await this.#get(`part-0/nowhere-${this.#below(1_000_000)}`), 404),
    'hang-ups': () => this.#hangUp(),
    downloads: () => this.#download(),
  };

  constructor(daemon: DaemonProcess, size: LoadSize) {
    this.#daemon = daemon;
    this.#client = new SiteClient(daemon.site, CLIENTS);
    this.#size = size;
  }

  get seed(): number {
    return this.#random.seed;
  }

  close(): void {
    this.#client.close();
  }

  async run(seconds: number): Promise<void> {
    const endMs = Date.now() + seconds * 1000;
    const sample = async () => this.samples.push(await residentMiBOf(this.#daemon.pid));
    await sample();
    const sampling = setInterval(() => void sample(), (seconds * 1000) / SAMPLES);
    await Promise.all(Array.from({ length: CLIENTS }, () => this.#sendRequests(endMs)));
    clearInterval(sampling);
    await sample();
  }

  async #sendRequests(endMs: number): Promise<void> {
    while (Date.now() < endMs && this.faults.length === 0) {
      // Downloads are 16 times as large as all other files together.
      const isDownload = this.#random.next() < 0.005;
      const [name, way] = isDownload
        ? (['downloads', this.ways.downloads] as const)
        : this.#random.pick(Object.entries(this.ways).slice(0, -1));
      const fault = await way?.().catch((error: unknown) => String(error));
      if (fault) this.faults.push(`${name}: ${fault}`);
      this.requests.set(name, (this.requests.get(name) ?? 0) + 1);
    }
  }

  #below(count: number): number {
    return Math.floor(this.#random.next() * count);
  }

  #get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#client.get(`/${path}`, headers);
  }

  #expect({ status }: Answer, expected: number): string | null {
    return status === expected ? null : `${status} and not ${expected}`;
  }

  async #page(encoding: string): Promise<string | null> {
    const page = this.#below(this.#size.pages);
    const answer = await this.#get(pathOf(page), { 'accept-encoding': encoding });
    const body = answer.status === 200 ? (await decodeBody(answer)).toString() : '';
    return body === pageOf(page) ? null : `${answer.status}, and not page ${page}`;
  }

  async #range(): Promise<string | null> {
    const { downloads, downloadBytes } = this.#size;
    const start = this.#below(downloadBytes - 1);
    const end = Math.min(downloadBytes - 1, start + this.#below(256 * 1024));
    const answer = await this.#get(`download-${this.#below(downloads)}.bin`, { range: `bytes=${start}-${end}` });
    if (answer.body.length !== end - start + 1) return `${answer.body.length} bytes of ${start}-${end}`;
    return this.#expect(answer, 206);
  }

  async #condition(): Promise<string | null> {
    const path = pathOf(this.#below(this.#size.pages));
    const first = await this.#get(path, { 'accept-encoding': 'gzip' });
    const { etag = '' } = first.headers;
    return this.#expect(await this.#get(path, { 'accept-encoding': 'gzip', 'if-none-match': etag }), 304);
  }

  async #download(): Promise<string | null> {
    const { downloads, downloadBytes } = this.#size;
    const download = this.#below(downloads);
    const { body } = await this.#get(`download-${download}.bin`);
    return body.equals(downloadOf(download, downloadBytes))
      ? null
      : `${body.length} bytes, and not download ${download}`;
  }

  /** Disconnects before or after the head of the response. */
  async #hangUp(): Promise<string | null> {
    const { hostname, port } = new URL(this.#daemon.site);
    const path = `/download-${this.#below(this.#size.downloads)}.bin`;
    const sent = request({ hostname, port, path, agent: false });
    sent.on('error', () => undefined);
    const closed = new Promise((resolve) => sent.once('close', resolve));
    sent.end();
    if (this.#random.next() < 0.5) sent.once('response', () => sent.destroy());
    else sent.once('socket', (socket) => socket.once('connect', () => sent.destroy()));
    await closed;
    return null;
  }
}

/** Opens all connections at once. @returns number of complete responses, with two requests each */
async function sendOnConnections({ site }: DaemonProcess, count: number): Promise<number> {
  const { hostname, port } = new URL(site);
  const sockets = await Promise.all(Array.from({ length: count }, () => openSocket(hostname, Number(port))));
  let answered = 0;
  for (let round = 0; round < 2; round++) {
    const answers = await Promise.all(sockets.map((socket) => headOf(socket)));
    answered += answers.filter((answer) => answer.startsWith('HTTP/1.1 304 ')).length;
  }
  for (const socket of sockets) socket.destroy();
  return answered;
}

async function openSocket(host: string, port: number): Promise<Socket> {
  const socket = connect(port, host);
  await once(socket, 'connect');
  return socket;
}

async function headOf(socket: Socket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: x\r\nIf-None-Match: *\r\n\r\n');
  let head = '';
  while (!head.includes('\r\n\r\n')) {
    const [chunk] = await once(socket, 'data');
    head += String(chunk);
  }
  return head;
}
