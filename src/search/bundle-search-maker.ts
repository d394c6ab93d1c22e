import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { DocshelfError } from '../domain/errors.ts';
import type { FileEntry } from '../domain/release.ts';
import { embedFor } from './embed-for.ts';
import type { Model } from './embedded-index.ts';
import type { FromThread, SearchRole, ToThread } from './messages.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface BundleSearchMakerOptions {
  /** Starts a search thread. */
  readonly spawn: (role: SearchRole) => Worker;
  /** The model, when it is first needed; null where bundles carry no vectors. */
  readonly model: (() => Promise<Model>) | null;
  /** Where vectors are kept between exports. */
  readonly cacheDir: string;
}

/** How long a thread that has said its last word may take to end. One that has a model ends at once. */
const ENDING_MS = 1_000;

/**
 * Makes the search data of bundles that are being exported, each in a thread of its own, which ends with it. Its shape is
 * what export asks for (`SearchData`).
 */
export class BundleSearchMaker {
  readonly #options: BundleSearchMakerOptions;

  constructor(options: BundleSearchMakerOptions) {
    this.#options = options;
  }

  /**
   * Writes the files of `_docshelf/search/` into an empty folder. Progress is in passages that have their vector.
   *
   * @param siteDir holds the site's files, at their paths
   * @throws DocshelfError `model_invalid`, `embedder_failed`; the signal's reason when it is aborted, once the thread has ended
   */
  async make(
    { siteDir, files }: { readonly siteDir: string; readonly files: readonly FileEntry[] },
    into: string,
    onProgress: (done: number, total: number) => void,
    signal: AbortSignal,
  ): Promise<void> {
    const { spawn, cacheDir } = this.#options;
    // A hosted model may not answer for minutes.
    const model = (await unlessAborted(Promise.resolve(this.#options.model?.()), signal)) ?? null;
    signal.throwIfAborted();
    const order = { siteDir, files, into, cacheDir, model: model?.choice ?? null };
    const thread = spawn({ role: 'bundle', order });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // It is told, and answers: ended from outside in the middle of the model's native code, it takes the process with it.
    const stop = (): void => thread.postMessage({ kind: 'stop' } satisfies ToThread);
    signal.addEventListener('abort', stop, { once: true });
    const exited = once(thread, 'exit').catch(() => undefined);
    thread.on('message', (message: FromThread) => {
      if (message.kind === 'progress') onProgress(message.progress.embedded, message.progress.passages);
      else if (message.kind === 'embed') {
        void embedFor(message, model?.embedder ?? null, signal).then((outcome) => thread.postMessage(outcome));
      } else if (message.kind === 'done') resolve();
      else if (message.kind === 'failed') reject(DocshelfError.fromPlain(message.error));
    });
    thread.on('error', reject);
    thread.on('exit', (code) => {
      reject(new DocshelfError('internal', `Cannot make the search data: its thread ended with ${code}`));
    });
    try {
      await promise;
    } finally {
      signal.removeEventListener('abort', stop);
      // What has been told to stop while it was reading pages reads on; there is no native code in that.
      await Promise.race([exited, sleep(ENDING_MS, undefined, { ref: false })]);
      await thread.terminate();
      signal.throwIfAborted();
    }
  }
}
