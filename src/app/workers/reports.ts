import type { ServedRequest } from '../../http/listener/served-request.ts';
import type { ServingReport } from './orders.ts';

const EVERY_MS = 250;
const REQUESTS_MAX = 500;
/** Reports that the daemon has not taken yet: what comes after them is lost, and memory is not. */
const WAITING_MAX = 20;

/** Numbers a request: as objects, what is told of one would take a tenth of its processor time. */
const NUMBERS = 4;

type Counted = Pick<ServedRequest, 'site' | 'status' | 'bytes' | 'durationMs'>;

/** What a serving process has done, told to the daemon a few times a second. */
export class Reports {
  readonly #send: (report: ServingReport) => Promise<unknown>;
  readonly #sites: (string | undefined)[] = [];
  #numbers: number[] = [];
  #lines = '';
  #cache = new Map<string, [hits: number, misses: number]>();
  #timer: NodeJS.Timeout | null = null;
  readonly #waiting = new Set<Promise<unknown>>();

  constructor(send: (report: ServingReport) => Promise<unknown>) {
    this.#send = send;
  }

  line(text: string): void {
    this.#lines += text;
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
    this.#tell();
    await Promise.all(this.#waiting);
  }

  #numberOf(site: string | undefined): number {
    const known = this.#sites.indexOf(site);
    return known === -1 ? this.#sites.push(site) - 1 : known;
  }

  #tell(): void {
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    const report: ServingReport = {
      sites: [...this.#sites],
      requests: Float64Array.from(this.#numbers),
      lines: this.#lines,
      cache: [...this.#cache].map(([key, counts]) => [key, ...counts] as const),
    };
    this.#sites.length = 0;
    this.#numbers = [];
    this.#lines = '';
    this.#cache = new Map();
    if (this.#waiting.size >= WAITING_MAX || report.requests.length === 0) return;
    const sent = this.#send(report)
      .catch(() => undefined)
      .finally(() => this.#waiting.delete(sent));
    this.#waiting.add(sent);
  }
}

/** The requests of a report, one by one. */
export function* requestsOf({ sites, requests }: ServingReport): Generator<Counted> {
  for (let at = 0; at < requests.length; at += NUMBERS) {
    const [site = 0, status = 0, bytes = 0, durationMs = 0] = requests.subarray(at, at + NUMBERS);
    yield { site: sites[site], status, bytes, durationMs };
  }
}
