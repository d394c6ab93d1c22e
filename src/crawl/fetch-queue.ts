interface FetchQueueOptions<Item> {
  /**
   * Sends a request. Resolves when the response arrives. `rest` resolves when the response is read. If either promise rejects,
   * the queue ends.
   */
  readonly work: (item: Item) => Promise<{ readonly rest: Promise<void> }>;
  /** Returns the limits of a host. `rateMax` is the maximum number of requests per second. 0 means no limit. */
  readonly boundsOf: (host: string) => { readonly inFlightMax: number; readonly rateMax: number };
  readonly inFlightMax: number;
  /** Maximum responses that are being read. At this maximum, the queue sends only urgent requests. */
  readonly restingMax: number;
}

interface Line<Item> {
  /** List of items, of which the queue has taken the first `taken`. Do not use `shift`, because it copies a long list. */
  waiting: Item[];
  taken: number;
  readonly urgent: Item[];
  inFlight: number;
  inFlightMax: number;
  readonly intervalMs: number;
  notBeforeMs: number;
  timer: NodeJS.Timeout | null;
}

/** Limits the requests to each host, and can pause requests to a host. Sends the next request while earlier responses are read. */
export class FetchQueue<Item> {
  readonly #options: FetchQueueOptions<Item>;
  readonly #lines = new Map<string, Line<Item>>();
  readonly #done = Promise.withResolvers<void>();
  #open = 0;
  #inFlight = 0;
  #resting = 0;
  #isDraining = false;
  #isOver = false;

  constructor(options: FetchQueueOptions<Item>) {
    this.#options = options;
    this.#done.promise.catch(() => undefined);
  }

  /** @param isUrgent true to send the request before all others, even if the maximum of unread responses (`restingMax`) is reached */
  add(host: string, item: Item, isUrgent = false): void {
    const line = this.#lineOf(host);
    (isUrgent ? line.urgent : line.waiting).push(item);
    this.#open += 1;
    this.#pump(line);
  }

  /** Keeps the queue open until `work` ends, because `work` may add items. If `work` rejects, the queue ends. */
  await(work: Promise<void>): void {
    this.#open += 1;
    work.then(
      () => this.#close(),
      (error: unknown) => this.end(error),
    );
  }

  slowDown(host: string, ms: number): void {
    const line = this.#lineOf(host);
    line.notBeforeMs = Math.max(line.notBeforeMs, performance.now() + ms);
    line.inFlightMax = Math.max(1, Math.floor(line.inFlightMax / 2));
  }

  async drain(): Promise<void> {
    this.#isDraining = true;
    this.#endIfIdle();
    await this.#done.promise;
  }

  end(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    for (const { timer } of this.#lines.values()) if (timer !== null) clearTimeout(timer);
    this.#done.reject(reason);
  }

  #lineOf(host: string): Line<Item> {
    const known = this.#lines.get(host);
    if (known !== undefined) return known;
    const { inFlightMax, rateMax } = this.#options.boundsOf(host);
    const intervalMs = rateMax === 0 ? 0 : 1000 / rateMax;
    const empty = { waiting: [], taken: 0, urgent: [], inFlight: 0, notBeforeMs: 0, timer: null };
    const line: Line<Item> = { ...empty, inFlightMax, intervalMs };
    this.#lines.set(host, line);
    return line;
  }

  #pumpAll(): void {
    for (const line of this.#lines.values()) this.#pump(line);
  }

  #pump(line: Line<Item>): void {
    const { inFlightMax, restingMax } = this.#options;
    while (!this.#isOver && line.inFlight < line.inFlightMax) {
      const isUrgent = line.urgent.length > 0;
      if (this.#inFlight >= inFlightMax || (this.#resting >= restingMax && !isUrgent)) return;
      if (!isUrgent && line.taken === line.waiting.length) return;
      const now = performance.now();
      if (line.notBeforeMs > now) {
        line.timer ??= setTimeout(() => {
          line.timer = null;
          this.#pump(line);
        }, line.notBeforeMs - now);
        return;
      }
      if (line.intervalMs > 0) line.notBeforeMs = now + line.intervalMs;
      void this.#run(line, line.urgent.shift() ?? take(line));
    }
  }

  async #run(line: Line<Item>, item: Item): Promise<void> {
    line.inFlight += 1;
    this.#inFlight += 1;
    try {
      const { rest } = await this.#options.work(item);
      line.inFlight -= 1;
      this.#inFlight -= 1;
      this.#resting += 1;
      this.#pumpAll();
      await rest;
      this.#resting -= 1;
      this.#pumpAll();
      this.#close();
    } catch (error) {
      this.end(error);
    }
  }

  #close(): void {
    this.#open -= 1;
    this.#endIfIdle();
  }

  #endIfIdle(): void {
    if (!this.#isDraining || this.#open > 0 || this.#isOver) return;
    this.#isOver = true;
    this.#done.resolve();
  }
}

function take<Item>(line: Line<Item>): Item {
  const item = line.waiting[line.taken] as Item;
  line.taken += 1;
  if (line.taken > 1024 && line.taken * 2 > line.waiting.length) {
    line.waiting = line.waiting.slice(line.taken);
    line.taken = 0;
  }
  return item;
}
