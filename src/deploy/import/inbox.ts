import { watch } from 'node:fs';
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
import { compareFileNames } from '../../domain/version.ts';
import { ifThere, namesIn, replaceFile } from '../../files/index.ts';
import type { Deployment } from '../deployment.ts';
import type { SitePaths } from '../releases/data-folder.ts';
import { isArchiveName } from './signature.ts';
import { stampOf } from './staging.ts';

/** Interval of polls of the inbox, because file events do not report changes on network volumes, or the end of a copy. */
const POLL_MS = 1_000;
const SETTLED_MS = 1_500;
/** Delay before docshelf retries an archive, if the archive did not cause the error, for example if the disk is full. */
const TRY_AGAIN_MS = 60_000;

const REASON_EXTENSION = '.reason.txt';
const REJECTED_MAX = 20;
/** Maximum total bytes of rejected archives, equal to the default limit of one archive. The newest archive stays in any case. */
const REJECTED_BYTES_MAX = 8 * 1024 ** 3;

const ITS_OWN_FAULT: ReadonlySet<ErrorCode> = new Set([...ARCHIVE_CODES, ...BUNDLE_CODES, 'pinned']);

interface InboxOptions {
  readonly paths: Pick<SitePaths, 'inbox' | 'rejected'>;
  readonly deployment: Pick<Deployment, 'deliver' | 'journal'>;
  /** Interval of polls while the inbox is empty. Polling a thousand inboxes every second would use a tenth of a processor core. */
  readonly pollMs?: number;
}

/** Imports and deletes archives. An archive is complete if its name does not end in `.part` and two polls find no change. */
export class Inbox {
  readonly #options: InboxOptions;
  readonly #seen = new Map<string, { readonly stamp: string; readonly notBeforeMs: number }>();
  readonly #stopping = new AbortController();
  /** Ends the wait before the next poll of the inbox. */
  #wake: () => void = () => undefined;
  #done: Promise<void> = Promise.resolve();

  constructor(options: InboxOptions) {
    this.#options = options;
  }

  start(): void {
    this.#done = this.#run(this.#stopping.signal);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    this.#wake();
    await this.#done;
  }

  async #run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    const { paths, deployment, pollMs = POLL_MS } = this.#options;
    const onFailed = (error: unknown): void => deployment.journal.failed('inbox', error);
    try {
      const watcher = watch(paths.inbox, { signal }, () => this.#wake());
      watcher.on('error', () => watcher.close());
    } catch {
      // The watcher fails if the system has no inotify instance left. Ignore this, because polling alone also finds new archives.
    }
    await boundRejected(paths.rejected).catch(onFailed);
    while (!signal.aborted) {
      await this.#look(signal).catch(onFailed);
      if (signal.aborted) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      const timer = setTimeout(resolve, this.#seen.size > 0 ? POLL_MS : pollMs).unref();
      await promise;
      clearTimeout(timer);
    }
  }

  async #look(signal: AbortSignal): Promise<void> {
    const names = new Set((await readdir(this.#options.paths.inbox)).filter(isArchiveName).sort(compareFileNames));
    for (const name of this.#seen.keys()) if (!names.has(name)) this.#seen.delete(name);
    for (const name of names) if (!signal.aborted && (await this.#isComplete(name))) await this.#import(name);
  }

  async #isComplete(name: string): Promise<boolean> {
    const stamp = await stampOf(join(this.#options.paths.inbox, name));
    if (stamp === null) return false;
    const before = this.#seen.get(name);
    if (before?.stamp === stamp) return Date.now() >= before.notBeforeMs;
    this.#seen.set(name, { stamp, notBeforeMs: Date.now() + SETTLED_MS });
    return false;
  }

  async #import(name: string): Promise<void> {
    const file = join(this.#options.paths.inbox, name);
    try {
      await this.#options.deployment.deliver({ file, fileName: name, version: null, source: 'inbox', activate: true });
      await rm(file, { force: true });
      await rm(file + SIGNATURE_EXTENSION, { force: true });
      this.#seen.delete(name);
    } catch (cause) {
      const error = toDocshelfError(cause);
      if (error.code === 'stopping') return;
      // If the archive has changed since the poll, it was still being copied. Report no error, because a later poll imports it.
      const stamp = await stampOf(file);
      const seen = this.#seen.get(name);
      const hasChanged = stamp !== seen?.stamp;
      if (!hasChanged) this.#options.deployment.journal.failed('inbox', error);
      if (seen !== undefined) this.#seen.set(name, { ...seen, notBeforeMs: Date.now() + TRY_AGAIN_MS });
      if (ITS_OWN_FAULT.has(error.code) && !hasChanged) await this.#reject(name, error);
    }
  }

  async #reject(name: string, error: DocshelfError): Promise<void> {
    const { inbox, rejected } = this.#options.paths;
    const reason = [error.message, ...(error.next === undefined ? [] : [error.next]), `code: ${error.code}`].join('\n');
    const target = join(rejected, cleanFileName(name, '_'));
    await replaceFile(target + REASON_EXTENSION, `${reason}\n`);
    await rename(join(inbox, name), target);
    await ifThere(rename(join(inbox, name + SIGNATURE_EXTENSION), target + SIGNATURE_EXTENSION));
    this.#seen.delete(name);
    await boundRejected(rejected);
  }
}

async function boundRejected(folder: string): Promise<void> {
  const reasons = (await namesIn(folder)).filter((name) => name.endsWith(REASON_EXTENSION));
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
