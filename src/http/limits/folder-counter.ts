import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { setTimeout as delay } from 'node:timers/promises';
import { DocshelfError, rethrowAs } from '../../domain/errors.ts';
import { refuseLink } from '../../files/index.ts';
import { ORGANIZATION_RATE, type RateVerdict, type RequestCounter } from './organization-rates.ts';

interface FolderCounterOptions {
  readonly dir: string;
  readonly onFault: (error: unknown) => void;
  readonly policy?: RequestCounter['policy'];
  readonly lockMsMax?: number;
  /** Milliseconds after a failure during which docshelf counts requests only in memory. Then docshelf tries the folder again. */
  readonly retryMs?: number;
}

/** Maximum time to wait for the lock of the counter's file. Another daemon usually keeps the lock for about 0.1 ms. */
const LOCK_MS_MAX = 10_000;
const LOCK_PAUSE_MS_MAX = 4;
const RETRY_MS = 1_000;

/** SQLite's result codes for a locked and for a damaged file (sqlite.org/rescode.html). */
const BUSY = 5;
const DAMAGED: ReadonlySet<number | undefined> = new Set([11, 26]);
const codeOf = (error: unknown): number | undefined => (error as { errcode?: number }).errcode;

export class FolderCounter implements RequestCounter {
  readonly policy: RequestCounter['policy'];
  readonly #options: FolderCounterOptions;
  readonly #file: string;
  #shared: RequestTable | null = null;
  /** Table in memory with all requests of this daemon. The daemon uses only this table while the folder is unavailable. */
  readonly #own = new RequestTable(':memory:');
  #isFailing = false;
  #retryMs = 0;

  constructor(options: FolderCounterOptions) {
    this.policy = options.policy ?? ORGANIZATION_RATE;
    this.#options = options;
    this.#file = join(options.dir, 'requests.sqlite');
  }

  async take(organization: string): Promise<RateVerdict> {
    if (performance.now() < this.#retryMs) return this.#judge(organization, null);
    try {
      const verdict = await this.#takeShared(organization);
      this.#isFailing = false;
      return verdict;
    } catch (error) {
      this.close();
      if (!this.#isFailing) this.#options.onFault(error);
      this.#isFailing = true;
      this.#retryMs = performance.now() + (this.#options.retryMs ?? RETRY_MS);
      return this.#judge(organization, null);
    }
  }

  close(): void {
    this.#shared?.close();
    this.#shared = null;
  }

  async #takeShared(organization: string): Promise<RateVerdict> {
    const endMs = performance.now() + (this.#options.lockMsMax ?? LOCK_MS_MAX);
    for (;;) {
      const isOpen = this.#shared !== null;
      try {
        this.#shared ??= this.#open();
        const shared = this.#shared;
        const verdict = shared.exclusively(() => this.#judge(organization, shared));
        // Count in memory only after the transaction, because docshelf repeats a transaction that fails.
        if (verdict.isAllowed) this.#own.add(organization, Date.now());
        return verdict;
      } catch (error) {
        if (codeOf(error) === BUSY && performance.now() < endMs) await delay(Math.random() * LOCK_PAUSE_MS_MAX);
        else if (DAMAGED.has(codeOf(error))) this.#replaceDamaged(isOpen);
        else rethrowAs('cannot_write', `count requests in "${this.#file}"`, CANNOT_COUNT)(error);
      }
    }
  }

  #open(): RequestTable {
    mkdirSync(this.#options.dir, { recursive: true });
    refuseLink(this.#file);
    return new RequestTable(this.#file);
  }

  /** Closes the damaged file, and deletes it if it was just opened. If it was open before, another daemon can have replaced it. */
  #replaceDamaged(isOpen: boolean): void {
    this.close();
    if (isOpen) return;
    rmSync(this.#file, { force: true });
    const message = `Cannot read the counted requests in "${this.#file}": the file is damaged`;
    this.#options.onFault(
      new DocshelfError('cannot_read', message, {
        next: 'docshelf deleted the file and continues with its count in memory.',
      }),
    );
  }

  #judge(organization: string, shared: RequestTable | null): RateVerdict {
    const { requestsMax, windowMs } = this.policy;
    // Use the time since 1970, because daemons that share the folder need a common clock.
    const nowMs = Date.now();
    const own = this.#own.used(organization, nowMs, windowMs);
    const inFolder = shared?.used(organization, nowMs, windowMs) ?? own;
    // Use the higher count. If the folder was unavailable, its table lacks requests of this daemon.
    const { count, oldestMs } = own.count > inFolder.count ? own : inFolder;
    const isAllowed = count < requestsMax;
    if (isAllowed) (shared ?? this.#own).add(organization, nowMs);
    return {
      isAllowed,
      remaining: Math.max(0, requestsMax - count - (isAllowed ? 1 : 0)),
      resetS: Math.max(1, Math.ceil((Math.min(oldestMs, nowMs) + windowMs - nowMs) / 1000)),
    };
  }
}

const CANNOT_COUNT = 'Free space on the volume of storage.dir, and make the folder writable.';

interface Used {
  readonly count: number;
  readonly oldestMs: number;
}

const NONE: Used = { count: 0, oldestMs: Number.POSITIVE_INFINITY };

/**
 * Table of counted requests. Does not flush writes, so a power failure can lose the last seconds. docshelf derives the count from
 * the first and last row number.
 */
class RequestTable {
  readonly #database: DatabaseSync;
  readonly #expire: StatementSync;
  readonly #clamp: StatementSync;
  readonly #first: StatementSync;
  readonly #last: StatementSync;
  readonly #insert: StatementSync;

  constructor(file: string) {
    const database = new DatabaseSync(file, { timeout: 0 });
    try {
      database.exec(`
        PRAGMA synchronous = OFF;
        PRAGMA journal_mode = TRUNCATE;
        CREATE TABLE IF NOT EXISTS requests (
          organization TEXT, at_ms INTEGER, number INTEGER, PRIMARY KEY (organization, at_ms, number)
        ) WITHOUT ROWID`);
      const row = 'SELECT number, at_ms AS atMs FROM requests WHERE organization = ? ORDER BY';
      this.#expire = database.prepare('DELETE FROM requests WHERE organization = ? AND at_ms <= ?');
      this.#clamp = database.prepare('UPDATE requests SET at_ms = ?2 WHERE organization = ?1 AND at_ms > ?2');
      this.#first = database.prepare(`${row} at_ms, number LIMIT 1`);
      this.#last = database.prepare(`${row} at_ms DESC, number DESC LIMIT 1`);
      this.#insert = database.prepare('INSERT INTO requests VALUES (?, ?, ?)');
    } catch (error) {
      database.close();
      throw error;
    }
    this.#database = database;
  }

  exclusively<Result>(act: () => Result): Result {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const result = act();
      this.#database.exec('COMMIT');
      return result;
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      throw error;
    }
  }

  used(organization: string, nowMs: number, windowMs: number): Used {
    this.#expire.run(organization, nowMs - windowMs);
    // If the clock was set back, stored requests can have a future time. Set it to now, so that no request counts too long.
    this.#clamp.run(organization, nowMs);
    const [first, last] = [this.#first, this.#last].map((statement) => rowOf(statement, organization));
    return first === undefined || last === undefined
      ? NONE
      : { count: last.number - first.number + 1, oldestMs: first.atMs };
  }

  add(organization: string, nowMs: number): void {
    this.#insert.run(organization, nowMs, (rowOf(this.#last, organization)?.number ?? 0) + 1);
  }

  close(): void {
    this.#database.close();
  }
}

function rowOf(statement: StatementSync, organization: string) {
  return statement.get(organization) as { readonly number: number; readonly atMs: number } | undefined;
}
