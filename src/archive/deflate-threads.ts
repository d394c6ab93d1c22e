import type { Worker } from 'node:worker_threads';
import { DocshelfError } from '../domain/errors.ts';
import { type Block, deflateBlock } from './deflate-block.ts';

/** Threads to compress in. */
export interface PackThreads {
  readonly count: number;
  /** Starts a thread with the entry `archive/worker`; given by the composition root. */
  readonly spawn: () => Worker;
}

interface Lane {
  readonly worker: Worker;
  /** Answers come in the order of asking. */
  readonly waiting: PromiseWithResolvers<Uint8Array>[];
}

/** Blocks that one thread has at once: one at work, one at hand. */
const LANE_BLOCKS_MAX = 2;

/** Compresses blocks in threads, which are started when there is work for them, or here where there are none. */
export class DeflateThreads {
  /** Blocks that are worth asking for at once. */
  readonly blocksMax: number;
  readonly #threads: PackThreads | null;
  readonly #lanes: Lane[] = [];
  #isClosed = false;

  constructor(threads: PackThreads | null) {
    this.#threads = threads !== null && threads.count > 0 ? threads : null;
    this.blocksMax = Math.max(1, (this.#threads?.count ?? 0) * LANE_BLOCKS_MAX);
  }

  /** The block's bytes are the thread's from now on. */
  async deflate(block: Block): Promise<Uint8Array> {
    if (this.#threads === null) return deflateBlock(block);
    const lane = this.#freeLane(this.#threads);
    const answer = Promise.withResolvers<Uint8Array>();
    lane.waiting.push(answer);
    lane.worker.postMessage(block, [block.bytes.buffer]);
    return answer.promise;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await Promise.all(this.#lanes.map(({ worker }) => worker.terminate()));
  }

  #freeLane(threads: PackThreads): Lane {
    const [least] = this.#lanes.toSorted((a, b) => a.waiting.length - b.waiting.length);
    const isBusy = least === undefined || least.waiting.length > 0;
    return isBusy && this.#lanes.length < threads.count ? this.#start(threads) : (least as Lane);
  }

  #start({ spawn }: PackThreads): Lane {
    const lane: Lane = { worker: spawn(), waiting: [] };
    const fail = (cause: unknown, state: string) => {
      const error = new DocshelfError('internal', `Cannot pack: a thread ${state}`, { cause });
      for (const answer of lane.waiting.splice(0)) answer.reject(error);
    };
    lane.worker.on('message', (deflated: Uint8Array) => lane.waiting.shift()?.resolve(deflated));
    lane.worker.on('error', (error) => fail(error, `failed (${error instanceof Error ? error.message : error})`));
    lane.worker.on('exit', (exitCode) => {
      if (!this.#isClosed) this.#lanes.splice(this.#lanes.indexOf(lane), 1);
      fail(undefined, `ended with ${exitCode}`);
    });
    this.#lanes.push(lane);
    return lane;
  }
}
