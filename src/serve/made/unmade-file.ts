import { Scheduler } from '../../threads/scheduler.ts';
import type { SentHeaders } from '../answer-headers.ts';
import type { BodyCache } from '../body-cache.ts';
import { FORMS } from '../encoding.ts';
import type { SiteFile } from '../site-file.ts';
import type { MadeFile } from './make-file.ts';

export type SnapshotFile = SiteFile | UnmadeFile;

/** Concurrent requests share the making of a file. It bounds nothing: that is for what makes it. */
const sharing = new Scheduler(Number.POSITIVE_INFINITY);

/** A file whose bytes, and so size and entity tag, are not made yet of those on disk. */
export class UnmadeFile {
  readonly path: string;
  readonly sent: SentHeaders;
  readonly #make: (signal: AbortSignal) => Promise<MadeFile>;

  /** @param make is given a signal that is aborted once no reader wants the file */
  constructor(path: string, sent: SentHeaders, make: (signal: AbortSignal) => Promise<MadeFile>) {
    this.path = path;
    this.sent = sent;
    this.#make = make;
  }

  /** @throws DocshelfError `cannot_read`, `release_damaged`: the next request tries again; the signal's reason */
  make(bodies: BodyCache, signal?: AbortSignal): Promise<SiteFile> {
    const make = async (wanted: AbortSignal): Promise<SiteFile> => {
      const { file, bytes } = await this.#make(wanted);
      if (bytes !== null) bodies.keep(file, { ...FORMS.identity, bytes });
      return file;
    };
    return sharing.run(make, { share: this, signal });
  }
}
