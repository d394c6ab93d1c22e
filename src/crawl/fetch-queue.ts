interface FetchQueueOptions<Item> {
  /** `rest` goes on while the next item is asked for. A rejection ends the queue. */
  readonly work: (item: Item) => Promise<{ readonly rest: Promise<void> }>;
  /** `rateMax`: requests in a second, 0: no bound. */
  readonly boundsOf: (host: string) => { readonly inFlightMax: number; readonly rateMax: number };
  /** Of all hosts together. */
  readonly inFlightMax: number;
  /** Of `rest`; over it nothing is asked for. */
  readonly restingMax: number;
}

interface Line<Item> {
  readonly host: string;
  waiting: Item[];
  readonly urgent: Item[];
  taken: number;
  inFlight: number;
  inFlightMax: number;
  readonly intervalMs: number;
  /** Of `performance.now()`. */
  notBeforeMs: number;
  timer: NodeJS.Timeout | null;
}

export class FetchQueue<Item> {
  readonly #options: FetchQueueOptions<Item>;
  readonly #lines = new Map<string, Line<Item>>();
  readonly #done = Promise.withResolvers<void>();
  #inFlight = 0;
  #waiting = 0;
  #resting = 0;
  #awaited = 0;
  #isDraining = false;
  #isOver = false;

  constructor(options: FetchQueueOptions<Item>) {
    this.#options = options;
    this.#done.promise.catch(() => undefined);
  }

  add(host: string, item: Item): void {
    this.#add(host, (line) => line.waiting.push(item));
  }

  /** For an item that somebody waits for: before all others, and however much rests. */
  addUrgent(host: string, item: Item): void {
    this.#add(host, (line) => line.urgent.push(item));
  }

  #add(host: string, push: (line: Line<Item>) => void): void {
    const line = this.#lineOf(host);
    push(line);
    this.#waiting += 1;
    this.#pump(line);
  }

  /** The queue is not drained before the end of `work`, which may add items. A rejection ends the queue. */
  await(work: Promise<void>): void {
    this.#awaited += 1;
    work.then(
      () => {
        this.#awaited -= 1;
        this.#endIfIdle();
      },
      (error: unknown) => this.end(error),
    );
  }

  hold(host: string, ms: number): void {
    const line = this.#lineOf(host);
    line.notBeforeMs = Math.max(line.notBeforeMs, performance.now() + ms);
  }

  slowDown(host: string): void {
    const line = this.#lineOf(host);
    line.inFlightMax = Math.max(1, Math.floor(line.inFlightMax / 2));
  }

  /** @throws what `work` throws first; what `end` is given */
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
    const empty = { waiting: [], urgent: [], taken: 0, inFlight: 0, notBeforeMs: 0, timer: null };
    const line: Line<Item> = { host, ...empty, inFlightMax, intervalMs };
    this.#lines.set(host, line);
    return line;
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
      this.#start(line, line.urgent.shift() ?? take(line));
    }
  }

  #start(line: Line<Item>, item: Item): void {
    line.inFlight += 1;
    this.#inFlight += 1;
    this.#waiting -= 1;
    this.#options.work(item).then(
      ({ rest }) => this.#onAnswered(line, rest),
      (error: unknown) => this.end(error),
    );
  }

  #onAnswered(line: Line<Item>, rest: Promise<void>): void {
    line.inFlight -= 1;
    this.#inFlight -= 1;
    this.#resting += 1;
    rest.then(
      () => {
        this.#resting -= 1;
        this.#pumpAll();
        this.#endIfIdle();
      },
      (error: unknown) => this.end(error),
    );
    this.#pumpAll();
  }

  #pumpAll(): void {
    for (const line of this.#lines.values()) this.#pump(line);
  }

  #endIfIdle(): void {
    const isBusy = this.#inFlight + this.#waiting + this.#resting + this.#awaited > 0;
    if (!this.#isDraining || isBusy || this.#isOver) return;
    this.#isOver = true;
    this.#done.resolve();
  }
}

/** Taken items are let go of now and then, so that taking costs the same however many wait. */
function take<Item>(line: Line<Item>): Item {
  const item = line.waiting[line.taken] as Item;
  line.taken += 1;
  if (line.taken > 1024 && line.taken * 2 > line.waiting.length) {
    line.waiting = line.waiting.slice(line.taken);
    line.taken = 0;
  }
  return item;
}
