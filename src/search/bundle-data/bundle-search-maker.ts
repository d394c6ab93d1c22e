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
}

/** The process ends between two batches; one that reads pages or loads its model when it is told to stop is ended. */
const ENDING_MS_MAX = 1_000;

export class BundleSearchMaker {
  readonly #options: BundleSearchMakerOptions;

  constructor(options: BundleSearchMakerOptions) {
    this.#options = options;
  }

  /**
   * Progress is in passages that have their vector.
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason once the process has ended
   */
  async make(
    { siteDir, files }: { readonly siteDir: string; readonly files: readonly FileEntry[] },
    into: string,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { cacheDir, heap = HEAPS.bundleSearch } = this.#options;
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
      const order = { siteDir, files, into, cacheDir, model: model?.choice ?? null };
      await thread.call('makeForBundle', order, {
        onProgress: ({ embedded, passages }) => onProgress(embedded, passages),
      });
    } finally {
      await thread.end({ withinMs: ENDING_MS_MAX });
    }
  }
}
