import type { SharedFile, SharedFiles } from '../ports.ts';
import type { PackedBundle } from './bundle-bytes.ts';
import type { ObjectName, S3Objects } from './s3-objects.ts';

const FOLDER = 'jobs/';
/** Sent again by then, so that what is in use is never as old as what is swept (8 days). */
const AGE_MS_MAX = 4 * 24 * 3_600_000;

const nameOf = (name: string): ObjectName => ({
  key: FOLDER + name,
  what: `file "${name}"`,
  contentType: 'application/octet-stream',
});

/** `<prefix>/jobs/<name>`. Every call throws `store_failed` where the store cannot be used. */
export class S3SharedFiles implements SharedFiles {
  readonly #objects: S3Objects;

  constructor(objects: S3Objects) {
    this.#objects = objects;
  }

  put(name: string, bytes: PackedBundle, signal: AbortSignal): Promise<void> {
    return this.#objects.put(nameOf(name), bytes, signal, AGE_MS_MAX);
  }

  read(name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array> | null> {
    return this.#objects.read(nameOf(name), signal);
  }

  list(folder: string): AsyncIterable<SharedFile> {
    return this.#objects.list(FOLDER + folder);
  }

  remove(name: string): Promise<void> {
    return this.#objects.remove(nameOf(name));
  }
}
