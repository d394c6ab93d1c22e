import type { FileEntry } from '../../domain/release.ts';
import { unlessAborted } from '../../files/lanes.ts';
import { HEAPS, type Heap, Thread, threadEntry } from '../../threads/index.ts';
import type { Model } from '../embedded-engine.ts';
import { embedWith } from '../semantic/embedders.ts';
import type { SearchCalls } from '../worker.ts';

export interface BundleSearchMakerOptions {
  readonly model: () => Promise<Model>;
  readonly cacheDir: string;
  readonly heap?: Heap;
  readonly lanesMax?: number;
}

/** Time limit for an aborted process to end, enough to finish a batch of texts. After that, docshelf kills the process. */
const ENDING_MS_MAX = 1_000;

const VECTORS_MS_MAX = 2 ** 31 - 1;

export class BundleSearchMaker {
  readonly #options: BundleSearchMakerOptions;

  constructor(options: BundleSearchMakerOptions) {
    this.#options = options;
  }

  /**
   * Creates a bundle's search data. Returns false if `vectorsWithinMs` is too short; the cache then keeps the computed vectors.
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the reason of an aborted signal, after the process has ended
   */
  async make(
    { siteDir, files }: { readonly siteDir: string; readonly files: readonly FileEntry[] },
    into: string,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
    vectorsWithinMs = VECTORS_MS_MAX,
  ): Promise<boolean> {
    const { cacheDir, heap = HEAPS.bundleSearch, lanesMax = 1 } = this.#options;
    const model = await unlessAborted(this.#options.model(), signal);
    const thread = new Thread<SearchCalls>({
      task: 'make the search data',
      heap,
      entry: threadEntry('../worker', import.meta),
      handlers: embedWith(async () => model.embedder),
      signal,
      isProcess: true,
      abortWithinMs: ENDING_MS_MAX,
    });
    try {
      const request = { siteDir, files, into, cacheDir, model: model.choice, vectorsWithinMs, lanesMax };
      return await thread.call('makeForBundle', request, {
        onProgress: ({ embedded, passages }) => onProgress(embedded, passages),
      });
    } finally {
      await thread.end({ withinMs: ENDING_MS_MAX });
    }
  }
}
