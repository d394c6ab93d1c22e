import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DocshelfError } from '../../domain/errors.ts';
import type { Listener } from '../../http/listener/listener.ts';
import type { CountedRequest } from '../../http/metrics/request-metrics.ts';
import { ServedCertificates, type TlsSettings } from '../../http/tls/served-certificates.ts';
import { TicketKeys } from '../../http/tls/ticket-keys.ts';
import type { ThreadCall } from '../../threads/index.ts';
import type {
  DaemonCalls,
  OpenedPort,
  ServedPlaces,
  ServingReport,
  SiteOrder,
  StampedOrder,
  TlsOrder,
  UseOrder,
} from './orders.ts';
import { requestsOf } from './reports.ts';
import { ServingProcess, type ServingProcessOptions } from './serving-process.ts';
import type { ServingCalls, StartOrder } from './worker.ts';

export interface WorkersOptions {
  readonly count: number;
  readonly onRequest: (counted: CountedRequest) => void;
  readonly onLines: (lines: Uint8Array) => void;
  readonly onCache: (key: string, hits: number, misses: number) => void;
  readonly onFault: DaemonCalls['fault'];
  readonly shutdownMs: () => number;
  /** One has ended, and another is started. */
  readonly onEnded: (fault: DocshelfError) => void;
  readonly answerMsMax?: ServingProcessOptions['answerMsMax'];
}

/** Of keys of session tickets: who has one of them reads what was said under them before TLS 1.3. */
const TICKET_KEYS_MS = 12 * 3_600_000;

interface Door {
  readonly host: string;
  readonly port: number;
  readonly tls: TlsSettings | null;
  readonly start: StartOrder;
}

/** Processes that serve beside the daemon. Each knows all that is to be served; what the daemon has said last holds. */
export class Workers {
  readonly #options: WorkersOptions;
  readonly #processes: readonly ServingProcess[];
  readonly #sites = new Map<string, StampedOrder>();
  /** Of swaps that are under way. */
  readonly #preparing = new Map<string, StampedOrder>();
  #places: ServedPlaces = { stamp: 0, isList: false, isLogged: true, places: [] };
  #stamp = 0;
  /** Changed in this tick: it takes effect together. */
  readonly #due = new Set<string>();
  #placesDue = false;
  #tlsDue = false;
  readonly #ticketKeys = new TicketKeys();
  #renewal: NodeJS.Timeout | null = null;
  #telling: Promise<void> | null = null;
  #told: Promise<void> = Promise.resolve();
  #door: Door | null = null;
  #lastEnd: { readonly at: string; readonly message: string } | null = null;
  #ends = 0;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#processes = Array.from(
      { length: options.count },
      () =>
        new ServingProcess({
          start: () => (this.#door as Door).start,
          open: (call) => this.#open(call),
          calls: { report: (report) => this.#report(report), fault: options.onFault },
          onEnded: (fault) => this.#ended(fault),
          answerMsMax: options.answerMsMax,
        }),
    );
  }

  /** Those that serve. */
  get running(): readonly { readonly pid: number; readonly startedAt: string }[] {
    return this.#processes.flatMap(({ running }) => running ?? []);
  }

  /** For an operator, one sentence each. */
  get notices(): readonly string[] {
    if (this.#lastEnd === null) return [];
    const { at, message } = this.#lastEnd;
    const times = this.#ends === 1 ? 'A serving process has ended' : `Serving processes have ended ${this.#ends} times`;
    return [`${times} since the start, the last at ${at} (${message}); another took its place.`];
  }

  get ends(): number {
    return this.#ends;
  }

  /** As a listener of this process would be. @throws DocshelfError `port_taken`, `cannot_listen`, `worker_ended` */
  async listen(door: Door): Promise<Listener> {
    this.#door = { ...door, port: door.port === 0 ? await freePort(door.host) : door.port };
    const [opened] = await Promise.all(this.#processes.map((each) => each.start())).catch(async (error: unknown) => {
      await this.stop(0);
      throw error;
    });
    this.#renewal = setInterval(() => this.#renewTicketKeys(), TICKET_KEYS_MS).unref();
    let certificates = door.tls && new ServedCertificates(door.tls);
    return {
      ...(opened as OpenedPort),
      useTls: (tls) => {
        certificates = new ServedCertificates(tls);
        this.#door = { ...(this.#door as Door), tls };
        this.#tlsDue = true;
        void this.settled();
      },
      isCertifiedFor: (host) => certificates?.covers(host) ?? false,
      stop: (deadlineMs) => this.stop(deadlineMs),
    };
  }

  async stop(deadlineMs: number): Promise<void> {
    if (this.#renewal !== null) clearInterval(this.#renewal);
    await Promise.all(this.#processes.map((each) => each.stop(deadlineMs)));
  }

  /** Resolves when every process has built it. @returns the act that swaps, which resolves when every process has */
  async prepare(key: string, order: SiteOrder): Promise<() => Promise<void>> {
    const prepared: StampedOrder = { key, stamp: ++this.#stamp, order };
    this.#preparing.set(key, prepared);
    await this.#tellAll((call, options) => call('prepare', prepared, options));
    return () => {
      const site = { key, stamp: ++this.#stamp, order };
      this.#sites.set(key, site);
      if (this.#preparing.get(key) === prepared) this.#preparing.delete(key);
      return this.#use({ sites: [{ ...site, prepared: prepared.stamp }], places: null, tls: null });
    };
  }

  /** What is changed in one tick takes effect together. */
  follow(key: string, order: SiteOrder | null): Promise<void> {
    this.#sites.set(key, { key, stamp: ++this.#stamp, order });
    // Of a swap that has failed, or that this one overtakes.
    this.#preparing.delete(key);
    this.#due.add(key);
    return this.settled();
  }

  route(places: Omit<ServedPlaces, 'stamp'>): Promise<void> {
    this.#places = { ...places, stamp: ++this.#stamp };
    this.#placesDue = true;
    const kept = new Set(places.places.map(({ domain }) => domain));
    for (const known of [this.#sites, this.#preparing]) {
      for (const key of known.keys()) if (!kept.has(key)) known.delete(key);
    }
    return this.settled();
  }

  /** Resolves when every process has taken what was said before. */
  settled(): Promise<void> {
    this.#telling ??= Promise.resolve().then(() => {
      const sites = [...this.#due].flatMap((key) => this.#sites.get(key) ?? []);
      const tls = this.#tlsDue ? (this.#door?.tls ?? null) : null;
      const places = this.#placesDue ? this.#places : null;
      this.#due.clear();
      this.#placesDue = false;
      this.#tlsDue = false;
      this.#telling = null;
      const due = this.#use({ sites, places, tls: tls && this.#tlsOrder(tls) });
      this.#told = Promise.all([this.#told, due]).then(() => undefined);
      return this.#told;
    });
    return this.#telling;
  }

  /** Better forms of files are on disk. */
  forgetMade(): void {
    void this.#tellAll((call, options) => call('forgetMade', null, options));
  }

  /** Has them tell all that they have counted; one that does not answer in time is left out. */
  async flush(withinMs: number): Promise<void> {
    await Promise.race([
      this.#tellAll((call, options) => call('flush', null, options)),
      sleep(withinMs, null, { ref: false }),
    ]);
  }

  #use(order: UseOrder): Promise<void> {
    return this.#tellAll((call, options) => call('use', order, options));
  }

  async #tellAll(act: Parameters<ServingProcess['tell']>[0]): Promise<void> {
    if (this.#door !== null) await Promise.all(this.#processes.map((each) => each.tell(act)));
  }

  async #open(call: ThreadCall<ServingCalls>): Promise<OpenedPort> {
    const urgent = { isUrgent: true };
    for (const prepared of this.#preparing.values()) void call('prepare', prepared, urgent).catch(() => undefined);
    await call('use', { sites: [...this.#sites.values()], places: this.#places, tls: null }, urgent);
    const { host, port, tls } = this.#door as Door;
    const stopMs = this.#options.shutdownMs();
    return call('open', { host, port, tls: tls && this.#tlsOrder(tls), stopMs });
  }

  #renewTicketKeys(): void {
    this.#ticketKeys.renew();
    this.#tlsDue = true;
    void this.settled();
  }

  #tlsOrder({ pairs, http2, hstsMs }: TlsSettings): TlsOrder {
    const ticketKeys = this.#ticketKeys.of(pairs).toString('base64');
    return { http2, hstsMs, ticketKeys, pairs: pairs.map(({ chain, key }) => ({ chain, key: key.reveal() })) };
  }

  #report(report: ServingReport): void {
    const { onRequest, onLines, onCache } = this.#options;
    for (const each of requestsOf(report)) onRequest(each);
    if (report.lines.length > 0) onLines(report.lines);
    for (const counts of report.cache) onCache(...counts);
  }

  #ended(fault: DocshelfError): void {
    this.#ends += 1;
    this.#lastEnd = { at: new Date().toISOString(), message: fault.message };
    this.#options.onEnded(fault);
  }
}

/** All processes listen on one port, whichever of them ends and comes again. */
async function freePort(host: string): Promise<number> {
  const server = createServer().listen({ host, port: 0 });
  await once(server, 'listening').catch(() => undefined);
  const { port = 0 } = (server.address() ?? {}) as Partial<AddressInfo>;
  server.close();
  return port;
}
