import type { FileEntry } from '../../domain/release.ts';
import { unlessAborted } from '../../files/lanes.ts';
import { HEAPS, type Heap, Thread, threadEntry } from '../../threads/index.ts';
import type { Model } from '../embedded-engine.ts';
import { embedWith } from '../parent-embedder.ts';
import type { SearchCalls } from '../worker.ts';

export interface BundleSearchMakerOptions {
  readonly model: (() => Promise<Model>) | null;
  readonly cacheDir: string;
  readonly heap?: Heap;
  /** Texts that are embedded at once. Default 1. */
  readonly lanesMax?: number;
}

/** The process ends between two batches; one that reads pages or loads its model when it is told to stop is ended. */
const ENDING_MS_MAX = 1_000;

/** The longest that a timer runs. */
const VECTORS_MS_MAX = 2 ** 31 - 1;

export class BundleSearchMaker {
  readonly #options: BundleSearchMakerOptions;

  constructor(options: BundleSearchMakerOptions) {
    this.#options = options;
  }

  /**
   * Progress is in passages that have their vector. Without vectors where they are not all there after `vectorsWithinMs`.
   * @returns false without vectors that there should have been
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason once the process has ended
   */
  async make(
    { siteDir, files }: { readonly siteDir: string; readonly files: readonly FileEntry[] },
    into: string,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
    vectorsWithinMs = VECTORS_MS_MAX,
  ): Promise<boolean> {
    const { cacheDir, heap = HEAPS.bundleSearch, lanesMax = 1 } = this.#options;
    // A hosted model may not answer for minutes.
    const model = (await unlessAborted(Promise.resolve(this.#options.model?.()), signal)) ?? null;
    const thread = new Thread<SearchCalls>({
      task: 'make the search data',
      heap,
      entry: threadEntry('../worker', import.meta),
      handlers: embedWith(async () => model?.embedder ?? null),
      signal,
      isProcess: true,
      abortWithinMs: ENDING_MS_MAX,
    });
    try {
      const order = { siteDir, files, into, cacheDir, model: model?.choice ?? null, vectorsWithinMs, lanesMax };
      const facts = await thread.call('makeForBundle', order, {
        onProgress: ({ embedded, passages }) => onProgress(embedded, passages),
      });
      return model === null || facts.vectors !== null;
    } finally {
      await thread.end({ withinMs: ENDING_MS_MAX });
    }
  }
}
