import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { bundleFile, importBundle, newHome } from '../helpers/corpus.ts';
import type { Bench, DaemonProcess } from '../helpers/daemon.ts';
import { decodeBody } from '../helpers/decode-body.ts';
import { residentMiBOf } from '../helpers/process-facts.ts';
import { SeededRandom, seedOfEnvironment } from '../helpers/random.ts';
import { readArchive } from '../helpers/read-archive.ts';
import { type Answer, addressOf, SiteClient } from '../helpers/site-client.ts';
import { NEXT_JULY, NEXT_JUNE } from './bundles.ts';

const REQUESTS = 4_000;
const SWAPS = 20;
const CONNECTIONS = 12;
/** About the duration of a reload, so that the next rewrite meets the daemon at each step of it. */
const HASTE_MS = 150;
const HASTY_PART = 0.25;
const TOKEN = 'a-token-for-the-tests';
const ENCODINGS = ['identity', 'gzip', 'br'];

/** SHA-256 by path. */
type Version = ReadonlyMap<string, string>;

/**
 * Requests 4,000 files from a daemon while its config is rewritten 20 times between two versions. Fails for any failed
 * request, an incomplete body, a body of neither version, or of the former one after a swap.
 * @param times factor for requests
 * and swaps
 */
export async function soakOverSwaps(bench: Bench, times: number): Promise<void> {
  const versions = new Map([
    ['2024-06-01', await digestsOf(NEXT_JUNE)],
    ['2024-07-15', await digestsOf(NEXT_JULY)],
  ]);
  const folder = await newHome(bench, { staticExport: { version: '2024-06-01' }, admin: { token: TOKEN } });
  for (const name of [NEXT_JUNE, NEXT_JULY]) await importBundle(bench, folder, bundleFile(name));
  const daemon = await bench.start(null, { folder });
  await daemon.untilServing('2024-06-01');

  const soak = new Soak(daemon, versions);
  bench.onEnd(() => soak.close());
  await soak.run(REQUESTS * times, SWAPS * times);

  const { seed, seconds, answers, statuses, duringSwaps, failures } = soak;
  const resident = Math.round(await residentMiBOf(daemon.pid));
  console.log(
    `figure: soak: ${answers} requests over ${SWAPS * times} swaps in ${seconds.toFixed(1)} s, ${duringSwaps} of them during a swap, ${statuses}, ${resident} MiB resident at the end, seed ${seed}`,
  );
  expect(failures.slice(0, 20)).toEqual([]);
  expect(answers).toBeGreaterThanOrEqual(REQUESTS * times);
  // The soak must make requests during swaps, and know the expected version between them.
  expect(duringSwaps).toBeGreaterThan(SWAPS * times);
  expect(answers - duringSwaps).toBeGreaterThan((REQUESTS * times) / 4);
}

class Soak {
  readonly failures: string[] = [];
  answers = 0;
  duringSwaps = 0;
  seconds = 0;
  readonly #daemon: DaemonProcess;
  readonly #client: SiteClient;
  readonly #versions: ReadonlyMap<string, Version>;
  readonly #paths: readonly string[];
  readonly #random = new SeededRandom(seedOfEnvironment());
  readonly #byStatus = new Map<number, number>();
  /** The served version, if it is certain. Null from the rewrite until the status reports the swap. Always a new object. */
  #settled: { readonly version: string } | null = { version: '2024-06-01' };
  #isOver = false;

  constructor(daemon: DaemonProcess, versions: ReadonlyMap<string, Version>) {
    this.#daemon = daemon;
    this.#client = new SiteClient(daemon.site, CONNECTIONS);
    this.#versions = versions;
    this.#paths = [...new Set([...versions.values()].flatMap((version) => [...version.keys()]))];
  }

  get seed(): number {
    return this.#random.seed;
  }

  get statuses(): string {
    return [...this.#byStatus].map(([status, count]) => `${count} x ${status}`).join(', ');
  }

  close(): void {
    this.#client.close();
  }

  async run(requests: number, swaps: number): Promise<void> {
    const startMs = Date.now();
    const readers = Array.from({ length: CONNECTIONS }, () => this.#sendRequests());
    try {
      for (let swap = 1; swap <= swaps; swap++) {
        await this.#swap(swap % 2 === 1 ? '2024-07-15' : '2024-06-01');
        // Half of the requests of a swap are sent after it is certain.
        const enough = Math.max((requests * swap) / swaps, this.answers + requests / swaps / 2);
        while (this.answers < enough && this.failures.length === 0) await sleep(5);
      }
    } finally {
      this.#isOver = true;
      await Promise.all(readers);
      this.seconds = (Date.now() - startMs) / 1000;
    }
  }

  async #swap(version: string): Promise<void> {
    const former = this.#settled?.version ?? version;
    this.#settled = null;
    if (this.#random.next() < HASTY_PART) await this.#swapInHaste(version, former);
    else await this.#daemon.rewriteConfig({ staticExport: { version } });
    await this.#daemon.untilServing(version);
    this.#settled = { version };
  }

  /** Switches there, back and there again without waiting. The last config counts. */
  async #swapInHaste(version: string, former: string): Promise<void> {
    for (const word of [version, former, version]) {
      await this.#daemon.rewriteConfig({ staticExport: { version: word } });
      await sleep(this.#random.next() * HASTE_MS);
    }
    await sleep(HASTE_MS);
    await this.#daemon.untilServing(version);
    // The status arrived by itself. Now the daemon has processed all rewrites, so its own response confirms the state.
    const headers = { authorization: `Bearer ${TOKEN}` };
    await fetch(`${this.#daemon.admin}/v1/reload`, { method: 'POST', headers });
  }

  async #sendRequests(): Promise<void> {
    while (!this.#isOver) {
      const path = this.#random.pick(this.#paths);
      const encoding = this.#random.pick(ENCODINGS);
      const before = this.#settled;
      try {
        const answer = await this.#client.get(addressOf(path), { 'accept-encoding': encoding });
        const certain = before === this.#settled ? (before?.version ?? null) : null;
        const fault = await this.#faultOf(path, answer, certain);
        if (fault !== null) this.failures.push(`${path} (${encoding}) while ${certain ?? 'swapping'}: ${fault}`);
        this.#byStatus.set(answer.status, (this.#byStatus.get(answer.status) ?? 0) + 1);
        if (certain === null) this.duringSwaps++;
      } catch (error) {
        this.failures.push(`${path} (${encoding}): ${String(error)}`);
      }
      this.answers++;
    }
  }

  /** @param certain version that was served for the whole request. Null during a swap */
  async #faultOf(path: string, answer: Answer, certain: string | null): Promise<string | null> {
    const digests = [...this.#versions.values()].map((version) => version.get(path));
    const own = certain === null ? undefined : this.#versions.get(certain)?.get(path);
    if (answer.status === 404) {
      const mayBeMissing = certain === null ? digests.includes(undefined) : own === undefined;
      return mayBeMissing ? null : '404';
    }
    if (answer.status !== 200) return `status ${answer.status}`;
    const body = hash('sha256', await decodeBody(answer));
    const etag = /^"([0-9a-f]{32})(?:-gz|-br)?"$/.exec(answer.headers.etag ?? '')?.[1];
    if (etag === undefined || !body.startsWith(etag)) return `body ${body} under the entity tag ${answer.headers.etag}`;
    if (own !== undefined) return body === own ? null : 'the body of another version';
    // Not in the served version, or during a swap: a body of either version.
    return digests.includes(body) ? null : 'a body of no version';
  }
}

async function digestsOf(name: string): Promise<Version> {
  const files = await readArchive(bundleFile(name));
  return new Map([...files].map(([path, bytes]) => [path, hash('sha256', bytes)]));
}
