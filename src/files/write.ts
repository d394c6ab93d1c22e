import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { lstatSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, type FileHandle, link, open, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { DocshelfError, errnoOf } from '../domain/errors.ts';
import { Lanes } from './lanes.ts';
import { ageOf, namesIn } from './read.ts';

type Content = string | Uint8Array | readonly Uint8Array[];

const MODE = 0o644;

/** Replaces a small file atomically and durably. If writing fails, the file is unchanged. @throws NodeJS.ErrnoException */
export async function replaceFile(file: string, content: Content, mode = MODE): Promise<void> {
  await writeBeside(file, content, mode, (temporary) => rename(temporary, file));
}

/** Creates a file, and returns false if it exists. Uses link(2) instead of a lock, because a killed process would leave its lock. */
export async function writeOnce(file: string, content: Content, mode = MODE): Promise<boolean> {
  let isOurs = true;
  await writeBeside(file, content, mode, async (temporary) => {
    await link(temporary, file).catch((error: unknown) => {
      if (errnoOf(error) !== 'EEXIST') throw error;
      isOurs = false;
    });
    await rm(temporary);
  });
  return isOurs;
}

async function writeBeside(
  file: string,
  content: Content,
  mode: number,
  publish: (temporary: string) => Promise<void>,
): Promise<void> {
  const folder = dirname(file);
  const temporary = temporaryIn(folder);
  try {
    await writeFlushed(temporary, content, mode);
    await publish(temporary);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await flushPath(folder);
}

async function writeFlushed(file: string, content: Content, mode: number): Promise<void> {
  // Keep the file private until it is complete, because it may contain a secret.
  await using handle = await open(file, 'wx', 0o600);
  const parts = typeof content === 'string' || content instanceof Uint8Array ? [content] : content;
  for (const part of parts) await handle.writeFile(part);
  await handle.chmod(mode);
  await handle.sync();
}

const { O_APPEND, O_CREAT, O_NOFOLLOW, O_RDWR } = constants;

/**
 * Opens a file to append, but never follows a symbolic link.
 * @throws DocshelfError `cannot_write` for a link, NodeJS.ErrnoException for other errors
 */
export async function openToAppend(file: string, mode = MODE): Promise<FileHandle> {
  return open(file, O_APPEND | O_CREAT | O_NOFOLLOW | O_RDWR, mode).catch((error: unknown) => {
    throw errnoOf(error) === 'ELOOP' ? linkFault(file, error) : error;
  });
}

const SIGNALS = ['SIGHUP', 'SIGINT', 'SIGTERM'] as const;

/** Creates a folder with a unique name. The end of the `await using` scope, or of the process, removes the folder. */
export async function temporaryFolder(prefix: string) {
  // Create the folder synchronously, so that no signal arrives before the listeners that remove the folder exist.
  const path = mkdtempSync(prefix);
  const removeNow = (): void => rmSync(path, { recursive: true, force: true, maxRetries: 3 });
  const endBySignal = (signal: NodeJS.Signals): void => {
    // If the command also handles the signal, return: the command then leaves its `await using` scopes, which remove the folders.
    if (process.listeners(signal).some(({ name }) => name !== endBySignal.name)) return;
    removeNow();
    process.off(signal, endBySignal);
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
  };
  process.on('exit', removeNow);
  // Run `endBySignal` first: it looks for listeners of the command, and Node removes a `once` listener as soon as it runs.
  for (const signal of SIGNALS) process.prependListener(signal, endBySignal);
  const remove = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true });
    process.off('exit', removeNow);
    for (const signal of SIGNALS) process.off(signal, endBySignal);
  };
  return { path, [Symbol.asyncDispose]: remove };
}

/** Call before SQLite opens a file, because SQLite follows links. @throws DocshelfError `cannot_write` for a symbolic link */
export function refuseLink(file: string): void {
  if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw linkFault(file);
}

function linkFault(file: string, cause?: unknown): DocshelfError {
  return new DocshelfError('cannot_write', `Cannot write "${file}": it is a symbolic link`, {
    next: 'Remove the link, or replace it with a file. To store the data elsewhere, set storage.dir.',
    cause,
  });
}

const TEMPORARY = '.tmp-';
const AGE_MS_MAX = 60_000;

/** Unique path, so that leftovers of a crash do not block the next attempt. */
const temporaryIn = (folder: string): string => join(folder, `${TEMPORARY}${randomBytes(6).toString('hex')}`);

export async function sweepTemporaries(folders: readonly string[], nowMs: number): Promise<void> {
  for (const folder of folders) {
    for (const name of await namesIn(folder)) {
      if (!name.startsWith(TEMPORARY)) continue;
      if (((await ageOf(join(folder, name), nowMs)) ?? 0) > AGE_MS_MAX) await rm(join(folder, name), { force: true });
    }
  }
}

const run = promisify(execFile);

/** Errors of link(2) if a hard link is impossible: another volume, no support, or too many links to one file. */
const NO_LINK: ReadonlySet<string> = new Set(['EXDEV', 'EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK']);

export const isLinkRefused = (error: unknown): boolean => NO_LINK.has(errnoOf(error) ?? '');

/** Flushes a file or folder, because the effects of rename(2) and link(2) alone do not survive a power cut. */
export async function flushPath(path: string): Promise<void> {
  await using handle = await open(path, 'r');
  await handle.sync();
}

/** Flushes a folder with all its files. Prefers one `sync -f`, because 5,000 fsync calls took 8 s. */
export async function flushTree(folder: string): Promise<void> {
  try {
    await run('sync', ['-f', folder]);
    return;
  } catch {
    // `sync` is missing or has no -f (BusyBox). Flushing each file is slower, but as safe.
  }
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  await using lanes = new Lanes(16);
  for (const entry of entries) await lanes.run(() => flushPath(join(entry.parentPath, entry.name)));
  await lanes.run(() => flushPath(folder));
  await lanes.drain();
}
