import { type FSWatcher, watch } from 'node:fs';
import { lstat, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ARCHIVE_CODES,
  BUNDLE_CODES,
  type DocshelfError,
  type ErrorCode,
  toDocshelfError,
} from '../../domain/errors.ts';
import { cleanFileName, SIGNATURE_EXTENSION } from '../../domain/file-name.ts';
import { ifThere, replaceFile } from '../../files/index.ts';
import type { Deployment } from '../deployment.ts';
import type { SitePaths } from '../releases/data-folder.ts';
import { isArchiveName } from './signature.ts';
import { stampOf } from './staging.ts';

/** Watching alone misses changes on network volumes; and while there are archives, that one of them is complete. */
const POLL_MS = 1_000;
/** A file that has not changed for so long is complete. */
const SETTLED_MS = 1_500;
/** After a failure that is not the archive's own (disk full). */
const TRY_AGAIN_MS = 60_000;

const REASON_EXTENSION = '.reason.txt';
/** Rejected archives that stay, the newest first. */
const REJECTED_MAX = 20;
/** Bytes of them together, the default limit of one archive. The newest stays whatever its size. */
const REJECTED_BYTES_MAX = 8 * 1024 ** 3;

const ITS_OWN_FAULT: ReadonlySet<ErrorCode> = new Set([...ARCHIVE_CODES, ...BUNDLE_CODES, 'pinned']);

export interface InboxOptions {
  /** The site's. */
  readonly paths: Pick<SitePaths, 'inbox' | 'rejected'>;
  readonly deployment: Pick<Deployment, 'deliver' | 'failed'>;
  /** While the inbox is empty: a thousand sites that look each second take a tenth of a processor. */
  readonly pollMs?: number;
}

/**
 * Takes archives in one by one, and deletes them; refused ones go to `rejected/` with the reason. Complete is what has
 * no `.part` name and is unchanged between two looks.
 */
export class Inbox {
  readonly #options: InboxOptions;
  /** By name: stamp at the last look, and when it may be tried next. */
  readonly #seen = new Map<string, { readonly stamp: string; readonly notBeforeMs: number }>();
  #watcher: FSWatcher | undefined;
  #timer: NodeJS.Timeout | undefined;
  #nextLook: NodeJS.Timeout | undefined;
  #look: Promise<void> = Promise.resolve();
  #isLooking = false;
  #isStopped = false;
  /** An earlier version of docshelf may have left more in `rejected/`. */
  #isBounded = false;

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  /** Again: it goes on. */
  start(): void {
    if (this.#timer !== undefined || this.#isStopped) return;
    this.#timer = setInterval(() => this.#lookSoon(), this.#options.pollMs ?? POLL_MS).unref();
    try {
      this.#watcher = watch(this.#options.paths.inbox, () => this.#lookSoon()).on('error', () =>
        this.#watcher?.close(),
      );
    } catch {
      // No inotify instance left: the poll is enough.
    }
    this.#lookSoon();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#timer);
    clearTimeout(this.#nextLook);
    this.#watcher?.close();
    await this.#look;
  }

  #lookSoon(): void {
    if (this.#isLooking || this.#isStopped) return;
    this.#isLooking = true;
    this.#look = this.#lookOnce()
      .catch((error: unknown) => this.#options.deployment.failed('inbox', error))
      .finally(() => {
        this.#isLooking = false;
        clearTimeout(this.#nextLook);
        const mustLook = this.#seen.size > 0 && !this.#isStopped;
        if (mustLook) this.#nextLook = setTimeout(() => this.#lookSoon(), POLL_MS).unref();
      });
  }

  async #lookOnce(): Promise<void> {
    const { paths } = this.#options;
    if (!this.#isBounded) await boundRejected(paths.rejected);
    this.#isBounded = true;
    const names = new Set((await readdir(paths.inbox)).filter(isArchiveName));
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    for (const name of names) {
      if (this.#isStopped) return;
      if (await this.#isComplete(name)) await this.#take(name);
    }
  }

  async #isComplete(name: string): Promise<boolean> {
    const stamp = await stampOf(join(this.#options.paths.inbox, name));
    if (stamp === null) return false;
    const before = this.#seen.get(name);
    if (before?.stamp === stamp) return Date.now() >= before.notBeforeMs;
    this.#seen.set(name, { stamp, notBeforeMs: Date.now() + SETTLED_MS });
    return false;
  }

  async #take(name: string): Promise<void> {
    const file = join(this.#options.paths.inbox, name);
    try {
      await this.#options.deployment.deliver({ file, fileName: name, version: null, source: 'inbox', activate: true });
      await rm(file, { force: true });
      await rm(file + SIGNATURE_EXTENSION, { force: true });
      this.#seen.delete(name);
    } catch (cause) {
      const error = toDocshelfError(cause);
      if (error.code === 'stopping') return;
      // A copy that only paused goes on: the next look sees it.
      const hasChanged = (await stampOf(file)) !== this.#seen.get(name)?.stamp;
      if (!hasChanged) this.#options.deployment.failed('inbox', error);
      this.#postpone(name);
      if (ITS_OWN_FAULT.has(error.code) && !hasChanged) await this.#reject(name, error);
    }
  }

  async #reject(name: string, error: DocshelfError): Promise<void> {
    const { inbox, rejected } = this.#options.paths;
    const reason = [error.message, ...(error.next === undefined ? [] : [error.next]), `code: ${error.code}`].join('\n');
    const target = join(rejected, cleanFileName(name, '_'));
    await replaceFile(target + REASON_EXTENSION, `${reason}\n`);
    // The newest reason replaces an earlier one of that name.
    await rename(join(inbox, name), target);
    await ifThere(rename(join(inbox, name + SIGNATURE_EXTENSION), target + SIGNATURE_EXTENSION));
    this.#seen.delete(name);
    await boundRejected(rejected);
  }

  #postpone(name: string): void {
    const before = this.#seen.get(name);
    if (before !== undefined) this.#seen.set(name, { ...before, notBeforeMs: Date.now() + TRY_AGAIN_MS });
  }
}

/** Removes the oldest rejected archives beyond the bounds, each with its reason and signature, and no other file. */
async function boundRejected(folder: string): Promise<void> {
  const reasons = ((await ifThere(readdir(folder))) ?? []).filter((name) => name.endsWith(REASON_EXTENSION));
  const rejected = await Promise.all(
    reasons.map(async (name) => {
      const archive = join(folder, name.slice(0, -REASON_EXTENSION.length));
      const [reason, stored] = await Promise.all([ifThere(lstat(join(folder, name))), ifThere(lstat(archive))]);
      return { archive, atMs: reason?.mtimeMs ?? 0, bytes: stored?.size ?? 0 };
    }),
  );
  let bytes = 0;
  for (const [n, each] of rejected.sort((a, b) => b.atMs - a.atMs).entries()) {
    bytes += each.bytes;
    if (n === 0 || (n < REJECTED_MAX && bytes <= REJECTED_BYTES_MAX)) continue;
    for (const end of ['', SIGNATURE_EXTENSION, REASON_EXTENSION]) await rm(each.archive + end, { force: true });
  }
}
