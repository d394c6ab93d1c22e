import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { DocshelfError } from '../domain/errors.ts';
import { ThreadCalls } from '../threads/thread-calls.ts';
import type { FromModelThread, ModelCall, ModelFacts, ToModelThread } from './messages.ts';
import type { Embedder } from './ports.ts';
import { readsLanguage } from './semantic/scripts.ts';

/**
 * A model in a thread of its own: the runtime holds the thread that it is called from until it is done, 2.6 ms for a question of
 * 19 tokens, and whoever asks has other work to do meanwhile. A thread that died is started anew by the next text.
 */
export class ModelThread implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #scripts: ReadonlySet<string>;
  readonly #calls: ModelCalls;

  private constructor({ digest, dims, scripts }: ModelFacts, calls: ModelCalls) {
    this.digest = digest;
    this.dims = dims;
    this.#scripts = scripts;
    this.#calls = calls;
  }

  /**
   * @param spawn starts a thread in the role `model`
   * @throws DocshelfError `model_invalid`.
   */
  static async load(spawn: () => Worker): Promise<ModelThread> {
    const calls = new ModelCalls(spawn);
    try {
      return new ModelThread((await calls.ask({ kind: 'facts' })) as ModelFacts, calls);
    } catch (error) {
      await calls.end();
      throw error;
    }
  }

  reads(language: string): boolean {
    return readsLanguage(this.#scripts, language);
  }

  embedQuery(text: string): Promise<Float32Array> {
    return this.#calls.ask({ kind: 'query', text }) as Promise<Float32Array>;
  }

  embedPassages(texts: readonly string[]): Promise<Float32Array[]> {
    return this.#calls.ask({ kind: 'passages', texts }) as Promise<Float32Array[]>;
  }

  close(): Promise<void> {
    return this.#calls.end();
  }
}

/** What is asked of the thread. It is told to end, and not ended: in the middle of the model's native code that ends the process. */
class ModelCalls {
  readonly #spawn: () => Worker;
  readonly #calls = new ThreadCalls();
  #thread: Worker | null = null;
  #isOver = false;

  constructor(spawn: () => Worker) {
    this.#spawn = spawn;
  }

  async ask(call: ModelCall): Promise<unknown> {
    if (this.#isOver) throw new DocshelfError('embedder_failed', 'Cannot embed: the model has been closed');
    const thread = this.#thread ?? this.#start();
    return this.#calls.ask(thread, (id) => ({ kind: 'call', id, call }) satisfies ToModelThread);
  }

  async end(): Promise<void> {
    this.#isOver = true;
    const thread = this.#thread;
    this.#thread = null;
    if (thread === null) return;
    const ended = once(thread, 'exit');
    thread.ref();
    thread.postMessage({ kind: 'stop' } satisfies ToModelThread);
    await ended;
  }

  #start(): Worker {
    const thread = this.#spawn();
    this.#thread = thread;
    thread.on('message', (outcome: FromModelThread) => this.#calls.settle(thread, outcome));
    const died = (cause: unknown): void => {
      if (this.#thread === thread) this.#thread = null;
      this.#calls.rejectAll(new DocshelfError('embedder_failed', 'Cannot embed: the thread has ended', { cause }));
    };
    thread.on('error', died);
    thread.on('exit', died);
    thread.unref();
    return thread;
  }
}
