import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { JobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import { openSqliteJobQueue, type QueueFile } from '../../../src/export/jobs/queue/sqlite.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { SharedClocks } from './shared-clocks.ts';

/** A kind of queue, opened like several processes would, with clocks that the test sets. */
export interface Subject {
  readonly queue: JobQueue;
  /** Opens the same queue like another process. */
  another(): Promise<JobQueue>;
  /** Clocks of all users of the queue, except the processes of `start`. */
  readonly clocks: SharedClocks;
  /** Runs `process.ts` on this queue: a real process with real clocks. */
  start(role: 'hold' | 'work', ...args: readonly string[]): ChildProcess;
  /** Fails if the stored data is inconsistent. */
  assertSound(): Promise<void>;
  close(): Promise<void>;
}

export type OpenSubject = () => Promise<Subject>;

const CLOCKED_WORKER = new URL('clocked-worker.ts', import.meta.url);

export async function sqliteSubject(): Promise<Subject> {
  const folder = newFolder();
  const file = join(folder, 'exports/jobs.sqlite');
  const clocks = new SharedClocks();
  const queues: JobQueue[] = [];
  const another = async (): Promise<JobQueue> => {
    const queue = await openSqliteJobQueue({ file, clocks: clocks.shared } as QueueFile, CLOCKED_WORKER);
    queues.push(queue);
    return queue;
  };
  return {
    queue: await another(),
    another,
    clocks,
    start: (role, ...args) => startProcess(file, role, ...args),
    assertSound: async () => {
      const database = new DatabaseSync(file);
      const found = database.prepare('PRAGMA integrity_check').all();
      database.close();
      if (found[0]?.integrity_check !== 'ok') throw new Error(JSON.stringify(found));
    },
    close: async () => {
      for (const queue of queues) await queue.close();
    },
  };
}

export function startProcess(place: string, ...args: readonly string[]): ChildProcess {
  const program = join(import.meta.dirname, 'process.ts');
  return spawn(process.execPath, [program, place, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
}
