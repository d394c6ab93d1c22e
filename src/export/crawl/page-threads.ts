import { Worker } from 'node:worker_threads';
import { DocshelfError } from '../../domain/errors.ts';
import type {
  PageOrder,
  PageThreadData,
  ReadOrder,
  ReadPage,
  SiteNames,
  WriteOrder,
  WrittenPage,
} from './page-work.ts';
import type { PageAnswer } from './worker.ts';

interface Thread {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<unknown>>;
}

type Unnumbered<Order> = Order extends PageOrder ? Omit<Order, 'id'> : never;

/** The threads that read and write pages. What is asked goes to the one that has the least to do. */
export class PageThreads {
  readonly #threads: readonly Thread[];
  #lastId = 0;

  /** @param entry URL of `worker.ts` */
  constructor(entry: string, count: number, data: Omit<PageThreadData, 'thread'>) {
    this.#threads = Array.from({ length: count }, (_, thread) => start(entry, { ...data, thread }));
  }

  /** Bytes are handed over: they are gone here. */
  read(order: ReadOrder): Promise<ReadPage> {
    const { content } = order;
    const transfer = typeof content === 'string' ? [] : [content.buffer as ArrayBuffer];
    return this.#ask(this.#idlest(), { act: 'read', ...order }, transfer) as Promise<ReadPage>;
  }

  write(order: WriteOrder): Promise<WrittenPage> {
    return this.#ask(this.#idlest(), { act: 'write', ...order }) as Promise<WrittenPage>;
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
    this.#lastId += 1;
    const waiting = Promise.withResolvers<unknown>();
    thread.waiting.set(this.#lastId, waiting);
    thread.worker.postMessage({ ...order, id: this.#lastId }, transfer);
    return waiting.promise;
  }

  #idlest(): Thread {
    return this.#threads.reduce((idlest, thread) => (thread.waiting.size < idlest.waiting.size ? thread : idlest));
  }
}

function start(entry: string, data: PageThreadData): Thread {
  const worker = new Worker(new URL(entry), { workerData: data });
  const waiting: Thread['waiting'] = new Map();
  const fail = (error: unknown): void => {
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.on('message', (answer: PageAnswer) => {
    const asked = waiting.get(answer.id);
    waiting.delete(answer.id);
    if ('error' in answer) asked?.reject(DocshelfError.fromPlain(answer.error));
    else asked?.resolve(answer.result);
  });
  worker.on('error', fail);
  worker.on('exit', (code) =>
    fail(new DocshelfError('internal', `Cannot export: a thread for pages ended with ${code}`)),
  );
  return { worker, waiting };
}
