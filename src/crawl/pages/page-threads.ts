import { Worker } from 'node:worker_threads';
import { DocshelfError } from '../../domain/errors.ts';
import type { CallOutcome } from '../../threads/call-outcome.ts';
import { OpenCalls } from '../../threads/open-calls.ts';
import type { ScopeSettings } from '../scope.ts';
import type {
  PageOrder,
  PageThreadData,
  PublishedOrder,
  ReadOrder,
  ReadPage,
  SiteNames,
  WriteOrder,
  WrittenPage,
} from './page-work.ts';

interface Thread {
  readonly worker: Worker;
  /** What it is told next. */
  orders: PageOrder[];
  transfer: ArrayBuffer[];
  readonly calls: OpenCalls;
  /** Why it does nothing any more. */
  fault: { readonly error: unknown } | null;
}

const YOUNG_MB = 12;
/** Far more than a page takes. Up to here V8 lets garbage grow slowly: 20,000 pages took 317 MiB in all, and 390 without it. */
const OLD_MB = 1024;

type Unnumbered<Order> = Order extends PageOrder ? Omit<Order, 'id'> : never;

/** The threads that read and write pages. What is asked goes to the one that has the least to do. */
export class PageThreads {
  readonly #threads: readonly Thread[];

  /** @param entry URL of `worker.ts` */
  constructor(entry: string, count: number, data: Omit<PageThreadData, 'thread' | 'givesPages'>) {
    const givesPages = count === 1;
    this.#threads = Array.from({ length: count }, (_, thread) => start(entry, { ...data, thread, givesPages }));
  }

  /** The host that a page says that it is published at; see `published-host.ts`. */
  publishedHost(order: PublishedOrder): Promise<string | null> {
    return this.#ask(this.#idlest(), { act: 'published', ...order }) as Promise<string | null>;
  }

  /** What the site is. It is not known yet when the threads start, which takes them as long as finding it out. */
  async useScope(scope: ScopeSettings): Promise<void> {
    await Promise.all(this.#threads.map((thread) => this.#ask(thread, { act: 'scope', scope })));
  }

  /** Bytes are handed over: they are gone here. */
  read(order: ReadOrder): Promise<ReadPage> {
    const { content } = order;
    const transfer = content instanceof Uint8Array ? [content.buffer as ArrayBuffer] : [];
    return this.#ask(this.#idlest(), { act: 'read', ...order }, transfer) as Promise<ReadPage>;
  }

  write(order: WriteOrder): Promise<WrittenPage> {
    const { place } = order;
    // What a thread has in its memory no other one can write.
    const writer = place?.length === 0 ? this.#threads[place.thread] : undefined;
    return this.#ask(writer ?? this.#idlest(), { act: 'write', ...order }) as Promise<WrittenPage>;
  }

  async useNames(names: SiteNames): Promise<void> {
    await Promise.all(this.#threads.map((thread) => this.#ask(thread, { act: 'names', ...names })));
  }

  async useDigests(digests: ReadonlyMap<string, string>): Promise<void> {
    await Promise.all(this.#threads.map((thread) => this.#ask(thread, { act: 'digests', digests })));
  }

  async end(): Promise<void> {
    await Promise.all(this.#threads.map(({ worker }) => worker.terminate()));
  }

  #ask(thread: Thread, order: Unnumbered<PageOrder>, transfer: ArrayBuffer[] = []): Promise<unknown> {
    if (thread.fault !== null) return Promise.reject(thread.fault.error);
    const { id, answer } = thread.calls.open();
    thread.orders.push({ ...order, id } as PageOrder);
    thread.transfer.push(...transfer);
    if (thread.orders.length === 1) setImmediate(() => tell(thread));
    return answer;
  }

  #idlest(): Thread {
    return this.#threads.reduce((idlest, thread) => (thread.calls.count < idlest.calls.count ? thread : idlest));
  }
}

/** Tells a thread what has come together for it since it was told last. */
function tell(thread: Thread): void {
  const { worker, orders, transfer } = thread;
  thread.orders = [];
  thread.transfer = [];
  worker.postMessage(orders, transfer);
}

function start(entry: string, data: PageThreadData): Thread {
  // Left to itself, V8 lets the young generation of a busy thread grow to four times as much, and gains nothing by it.
  const resourceLimits = { maxYoungGenerationSizeMb: YOUNG_MB, maxOldGenerationSizeMb: OLD_MB };
  const worker = new Worker(new URL(entry), { workerData: data, resourceLimits });
  const calls = new OpenCalls();
  const thread: Thread = { worker, calls, orders: [], transfer: [], fault: null };
  const fail = (error: unknown): void => {
    thread.fault ??= { error };
    calls.failAll(error);
  };
  worker.on('message', (outcomes: readonly CallOutcome[]) => {
    for (const outcome of outcomes) calls.settle(outcome);
  });
  worker.on('error', fail);
  worker.on('exit', (code) =>
    fail(new DocshelfError('internal', `Cannot export: a thread for pages ended with ${code}`)),
  );
  return thread;
}
