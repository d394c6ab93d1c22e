import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { refuseLink } from './write.ts';

/** `shared`: beside others that share it. */
export type LockMode = 'shared' | 'exclusive';

export interface FileLock {
  close(): void;
}

/** SQLITE_BUSY, sqlite.org/rescode.html */
const BUSY = 5;

const POLL_MS = 20;

/**
 * A lock that ends with its process, on a file that stays empty; 'taken' by another process or another part of this
 * one, null if the file system knows no locks or the file is a symbolic link. SQLite's lock on a database is the one lock of the operating system
 * that Node reaches.
 */
export function lockFile(file: string, mode: LockMode): FileLock | 'taken' | null {
  let database: DatabaseSync | null = null;
  try {
    refuseLink(file);
    database = new DatabaseSync(file, { timeout: 0 });
    const begin = mode === 'shared' ? 'BEGIN; SELECT * FROM sqlite_schema' : 'BEGIN EXCLUSIVE';
    database.exec(`PRAGMA journal_mode = MEMORY; ${begin}`);
    return database;
  } catch (error) {
    database?.close();
    return (error as { errcode?: number }).errcode === BUSY ? 'taken' : null;
  }
}

/**
 * Runs an act under a lock. It runs without one where the file system knows none, and where the holder has not let go
 * for `waitMsMax`: a stopped process must not stop the others.
 *
 * @param act told whether another holds the lock all the same
 * @throws the signal's reason, and what the act throws
 */
export async function whileLocked<Result>(
  file: string,
  { mode, waitMsMax, signal }: { readonly mode: LockMode; readonly waitMsMax: number; readonly signal?: AbortSignal },
  act: (isTaken: boolean) => Promise<Result>,
): Promise<Result> {
  const endMs = performance.now() + waitMsMax;
  let lock = lockFile(file, mode);
  while (lock === 'taken' && performance.now() < endMs) {
    await delay(POLL_MS, undefined, { signal }).catch(() => signal?.throwIfAborted());
    lock = lockFile(file, mode);
  }
  try {
    return await act(lock === 'taken');
  } finally {
    if (lock !== 'taken') lock?.close();
  }
}
