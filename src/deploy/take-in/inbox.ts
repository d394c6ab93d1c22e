import { type FSWatcher, watch } from 'node:fs';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  ARCHIVE_CODES,
  BUNDLE_CODES,
  type DocshelfError,
  type ErrorCode,
  toDocshelfError,
} from '../../domain/errors.ts';
import { ifThere } from '../../files/index.ts';
import type { Deployment } from '../deployment.ts';
import type { SitePaths } from '../releases/data-folder.ts';
import { isArchiveName, SIGNATURE_EXTENSION } from './signature.ts';
import { stampOf } from './stamp.ts';

/** Watching alone misses changes on network volumes; and while there are archives, that one of them is complete. */
const POLL_MS = 1_000;
/** A file that has not changed for so long is complete. */
const SETTLED_MS = 1_500;
/** After a failure that is not the archive's own (disk full). */
const TRY_AGAIN_MS = 60_000;

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
    await writeFile(join(rejected, `${name}.reason.txt`), `${reason}\n`);
    // The newest reason replaces an earlier one of that name.
    await rename(join(inbox, name), join(rejected, name));
    await ifThere(rename(join(inbox, name + SIGNATURE_EXTENSION), join(rejected, name + SIGNATURE_EXTENSION)));
    this.#seen.delete(name);
  }

  #postpone(name: string): void {
    const before = this.#seen.get(name);
    if (before !== undefined) this.#seen.set(name, { ...before, notBeforeMs: Date.now() + TRY_AGAIN_MS });
  }
}
