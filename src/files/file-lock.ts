import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { refuseLink } from './write.ts';

export type LockMode = 'shared' | 'exclusive';

export type FileLock = { close(): void };

/** SQLITE_BUSY, sqlite.org/rescode.html */
const BUSY = 5;

const POLL_MS = 20;

/** Null if the file system has no locks. SQLite's lock is the only system lock available in Node. */
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

/** Runs unlocked after `waitMsMax`: a stopped process must not stop the others. @param act receives true if another has the lock */
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
