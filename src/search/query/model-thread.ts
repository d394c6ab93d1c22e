import { HEAPS, Thread, threadEntry } from '../../threads/index.ts';
import type { ModelFacts } from '../orders.ts';
import type { Embedder } from '../ports.ts';
import { readsLanguage } from '../semantic/scripts.ts';
import type { ModelCalls } from '../semantic/worker.ts';

/** Not terminated while it loads a model (see `startProcess`), which takes 0.3 s on an idle machine. */
const ENDING_MS_MAX = 60_000;

/** A run holds its thread, 2.6 ms for a question of 19 tokens. A thread that died is started anew by the next text. */
export class ModelThread implements Embedder {
  readonly digest: string;
  readonly dims: number;
  readonly #scripts: ReadonlySet<string>;
  readonly #thread: Thread<ModelCalls>;

  private constructor({ digest, dims, scripts }: ModelFacts, thread: Thread<ModelCalls>) {
    this.digest = digest;
    this.dims = dims;
    this.#scripts = scripts;
    this.#thread = thread;
  }

  /** @throws DocshelfError `model_invalid`. */
  static async load(folder: string): Promise<ModelThread> {
    const thread = new Thread<ModelCalls>({
      task: 'embed',
      heap: HEAPS.model,
      entry: threadEntry('../semantic/worker', import.meta),
      data: folder,
      codes: { ended: 'embedder_failed', over: 'embedder_failed' },
    });
    try {
      return new ModelThread(await thread.call('facts', null), thread);
    } catch (error) {
      await thread.end({ withinMs: ENDING_MS_MAX });
      throw error;
    }
  }

  reads(language: string): boolean {
    return readsLanguage(this.#scripts, language);
  }

  embedQuery(text: string): Promise<Float32Array> {
    return this.#thread.call('embedQuery', text);
  }

  embedPassages(texts: readonly string[]): Promise<Float32Array[]> {
    return this.#thread.call('embedPassages', texts);
  }

  close(): Promise<void> {
    return this.#thread.end({ withinMs: ENDING_MS_MAX });
  }
}
