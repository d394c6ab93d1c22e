import type { CountedRequest } from '../../http/metrics/request-metrics.ts';
import { LineBytes } from '../log/line-bytes.ts';
import type { ServingReport } from './orders.ts';

const EVERY_MS = 250;
const REQUESTS_MAX = 500;
/** Of one report, 3 MiB; the next has the others. */
const REPORT_REQUESTS_MAX = 100_000;
/** While the daemon takes nothing: what comes after them is not logged. Counts are kept, at 32 bytes a request. */
const LINES_BYTES_MAX = 8 * 1024 ** 2;
const CHUNK_BYTES = 256 * 1024;

/** Numbers a request: as objects, what is told of one would take a tenth of its processor time. */
const NUMBERS = 4;

type Counted = Omit<CountedRequest, 'listener'>;

/** What a serving process has done, told to the daemon a few times a second. */
export class Reports {
  readonly #send: (report: ServingReport) => Promise<unknown>;
  readonly #sites: (string | undefined)[] = [];
  readonly #numbers: number[] = [];
  readonly #lines = new LineBytes(CHUNK_BYTES, (bytes) => this.#full.push(bytes));
  #full: Buffer[] = [];
  #cache = new Map<string, [hits: number, misses: number]>();
  #timer: NodeJS.Timeout | null = null;
  #sending: Promise<void> | null = null;
  #lost = 0;
  readonly #onLost: (lines: number) => void;

  /** @param onLost told of lines that no report has */
  constructor(send: (report: ServingReport) => Promise<unknown>, onLost: (lines: number) => void) {
    this.#send = send;
    this.#onLost = onLost;
  }

  /** @param text put together a moment later */
  line(text: () => string): void {
    if (this.#full.length * CHUNK_BYTES >= LINES_BYTES_MAX) this.#lost++;
    else this.#lines.add(text);
  }

  served({ site, status, bytes, durationMs }: Counted): void {
    this.#numbers.push(this.#numberOf(site), status, bytes, durationMs);
    if (this.#numbers.length >= REQUESTS_MAX * NUMBERS) this.#tell();
    else this.#timer ??= setTimeout(() => this.#tell(), EVERY_MS);
  }

  cache(key: string, isHit: boolean): void {
    const counts = this.#cache.get(key) ?? [0, 0];
    counts[isHit ? 0 : 1]++;
    this.#cache.set(key, counts);
  }

  /** Resolves when the daemon has all of it. */
  async flush(): Promise<void> {
    do {
      this.#tell();
      await this.#sending;
    } while (!this.#isEmpty);
  }

  get #isEmpty(): boolean {
    return this.#numbers.length === 0 && this.#full.length === 0 && this.#lines.isEmpty && this.#cache.size === 0;
  }

  #numberOf(site: string | undefined): number {
    const known = this.#sites.indexOf(site);
    return known === -1 ? this.#sites.push(site) - 1 : known;
  }

  #tell(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    // Until it has taken the last one, this one grows.
    if (this.#sending !== null || this.#isEmpty) return;
    const report: ServingReport = {
      sites: [...this.#sites],
      requests: Float64Array.from(this.#numbers.splice(0, REPORT_REQUESTS_MAX * NUMBERS)),
      lines: this.#takeLines(),
      cache: [...this.#cache].map(([key, counts]) => [key, ...counts] as const),
    };
    if (this.#numbers.length === 0) this.#sites.length = 0;
    this.#cache = new Map();
    this.#sending = this.#send(report).then(
      () => this.#sent(),
      () => this.#sent(),
    );
    if (this.#lost > 0) this.#onLost(this.#lost);
    this.#lost = 0;
  }

  #takeLines(): Buffer {
    const last = this.#lines.take();
    const lines = this.#full.length === 0 ? last : Buffer.concat([...this.#full, last]);
    this.#full = [];
    return lines;
  }

  #sent(): void {
    this.#sending = null;
    if (this.#numbers.length >= REQUESTS_MAX * NUMBERS) this.#tell();
    else if (!this.#isEmpty) this.#timer ??= setTimeout(() => this.#tell(), EVERY_MS);
  }
}

/** The requests of a report, one by one. */
export function* requestsOf({ sites, requests }: ServingReport): Generator<CountedRequest> {
  for (let at = 0; at < requests.length; at += NUMBERS) {
    const numberAt = (place: number): number => requests[at + place] ?? 0;
    const [status, bytes, durationMs] = [numberAt(1), numberAt(2), numberAt(3)];
    yield { listener: 'site', site: sites[numberAt(0)], status, bytes, durationMs };
  }
}
