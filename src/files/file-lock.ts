import { rm } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { refuseLink } from './write.ts';

export type LockMode = 'shared' | 'exclusive';

export type FileLock = { close(): void };

/** Result code SQLITE_BUSY (sqlite.org/rescode.html). */
const BUSY = 5;

const POLL_MS = 20;

/** Locks a file through SQLite, because Node has no file locks. Null if locking fails, as on a file system without locks. */
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

interface LockOptions {
  readonly mode: LockMode;
  readonly waitMsMax: number;
  readonly signal?: AbortSignal;
  /** True for a lock file that no other process needs later. docshelf removes the file before it releases the lock. */
  readonly isTemporary?: boolean;
}

/** After `waitMsMax`, calls `act(true)` without the lock, because a stopped process must not block others. */
export async function whileLocked<Result>(
  file: string,
  { mode, waitMsMax, signal, isTemporary = false }: LockOptions,
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
    if (lock !== 'taken') {
      try {
        if (isTemporary) await rm(file, { force: true });
      } finally {
        lock?.close();
      }
    }
  }
}
