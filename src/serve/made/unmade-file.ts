import type { SentHeaders } from '../answer-headers.ts';
import type { BodyCache } from '../body-cache.ts';
import { FORMS } from '../encoding.ts';
import type { SiteFile } from '../site-file.ts';
import type { MadeFile } from './make-file.ts';

export type SnapshotFile = SiteFile | UnmadeFile;

/** A file whose bytes, and so size and entity tag, are not made yet of those on disk. */
export class UnmadeFile {
  readonly path: string;
  readonly sent: SentHeaders;
  readonly #make: () => Promise<MadeFile>;
  #making: Promise<SiteFile> | null = null;

  constructor(path: string, sent: SentHeaders, make: () => Promise<MadeFile>) {
    this.path = path;
    this.sent = sent;
    this.#make = make;
  }

  /** Concurrent requests share it. @throws DocshelfError `cannot_read`, `release_damaged`: the next request tries again. */
  make(bodies: BodyCache): Promise<SiteFile> {
    this.#making ??= this.#make()
      .then(({ file, bytes }) => {
        if (bytes !== null) bodies.keep(file, { ...FORMS.identity, bytes });
        return file;
      })
      .finally(() => {
        this.#making = null;
      });
    return this.#making;
  }
}
