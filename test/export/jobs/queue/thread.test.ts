import { spawn as spawnProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { JobQueue } from '../../../../src/export/jobs/queue/sql-job-queue.ts';
import { openSqliteJobQueue } from '../../../../src/export/jobs/queue/sqlite.ts';
import { jobIdOf, LEASE_MS, newJob, QUEUED_MAX } from '../../../contract/job-queue/jobs.ts';
import { codeOf } from '../../../contract/job-queue/workbench.ts';
import { newFolder } from '../../../helpers/new-folder.ts';
import { watchThreads } from '../../../helpers/watch-threads.ts';

const JOB = newJob(jobIdOf('one'));

let folder: string;
let file: string;
let watched: ReturnType<typeof watchThreads>;
let queues: JobQueue[];
beforeEach(async () => {
  folder = newFolder();
  file = join(folder, 'jobs.sqlite');
  watched = watchThreads();
  queues = [];
});
afterEach(async () => {
  for (const queue of queues) await queue.close();
  expect(watched.alive()).toBe(0);
  watched.stop();
});

async function open(): Promise<JobQueue> {
  const queue = await openSqliteJobQueue({ file });
  queues.push(queue);
  return queue;
}

describe('openSqliteJobQueue()', () => {
  test('opens the same queue for several callers that start before the file exists', async () => {
    const opened = await Promise.all(Array.from({ length: 4 }, open));
    await opened[0]?.add(JOB, QUEUED_MAX);
    for (const queue of opened) expect(await queue.get(JOB.jobId)).toMatchObject(JOB);
  });

  test('rejects the file of a newer docshelf, and leaves no thread running', async () => {
    const newer = new DatabaseSync(file);
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(await codeOf(openSqliteJobQueue({ file }))).toBe('data_folder_newer');
  });

  test('makes calls fail with data_folder_newer if a newer docshelf migrates the open file', async () => {
    const queue = await open();
    await queue.add(JOB, QUEUED_MAX);
    const newer = new DatabaseSync(file);
    newer.exec('ALTER TABLE jobs RENAME COLUMN job_id TO id');
    expect(await codeOf(queue.get(JOB.jobId))).toBe('internal');
    newer.exec('PRAGMA user_version = 99');
    newer.close();
    expect(await codeOf(queue.get(JOB.jobId))).toBe('data_folder_newer');
  });
});

describe('embedded job queue', () => {
  test('waits while another process writes', async () => {
    const queue = await open();
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    setTimeout(() => other.exec('COMMIT'), 300);
    expect(await queue.add(JOB, QUEUED_MAX)).toMatchObject(JOB);
    other.close();
  });

  test('starts a new thread after its thread ends, and rejects the waiting calls', async () => {
    const queue = await open();
    await queue.add(JOB, QUEUED_MAX);
    // The thread cannot respond before it ends, because another process writes.
    const other = new DatabaseSync(file);
    other.exec('BEGIN IMMEDIATE');
    const waiting = codeOf(queue.add({ ...JOB, jobId: 'se_00000000000000ff' }, QUEUED_MAX));
    const ending = watched.started[0]?.terminate();
    other.close();
    await ending;
    expect(await waiting).toBe('worker_ended');
    expect(await queue.get(JOB.jobId)).toMatchObject(JOB);
    expect(watched.started).toHaveLength(2);
  });

  test('finishes pending calls when it is closed, and rejects new calls', async () => {
    const queue = await open();
    const pending = queue.add(JOB, QUEUED_MAX);
    await queue.close();
    expect(await pending).toMatchObject(JOB);
    expect(await codeOf(queue.get(JOB.jobId))).toBe('stopping');
    await queue.close();
  });

  test('rejects calls of clients if 1,000 calls wait, but not calls of the process that runs a job', async () => {
    const queue = await open();
    await queue.add(JOB, QUEUED_MAX);
    const claim = await queue.claim(LEASE_MS);
    if (claim === null) throw new Error('nothing to claim');
    const pending = Array.from({ length: 1100 }, () => codeOf(queue.get(JOB.jobId)));
    const written = queue.advance(claim, { progress: 1, pageCount: 1 });
    const codes = await Promise.all(pending);
    expect(codes.filter((code) => code === 'none')).toHaveLength(1000);
    expect(codes.filter((code) => code === 'busy')).toHaveLength(100);
    expect(await written).toBe(true);
  });

  test.runIf(process.platform === 'linux')('claims jobs of a killed process of this machine immediately', async () => {
    const queue = await open();
    await queue.add(JOB, QUEUED_MAX);
    const program = join(import.meta.dirname, '../../../contract/job-queue/process.ts');
    const child = spawnProcess(process.execPath, [program, file, 'hold'], { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(child.stdout, 'data');
    expect(await queue.claim(LEASE_MS)).toBeNull();
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
    expect(await queue.claim(LEASE_MS)).toMatchObject({ attempt: 2, jobId: JOB.jobId });
  });

  test('does not keep the process running if it is not closed', async () => {
    const adapter = new URL('../../../../src/export/jobs/queue/sqlite.ts', import.meta.url).href;
    const program = join(folder, 'program.mjs');
    await writeFile(
      program,
      `const { openSqliteJobQueue } = await import(${JSON.stringify(adapter)});
       await openSqliteJobQueue({ file: ${JSON.stringify(file)} });`,
    );
    const child = spawnProcess(process.execPath, [program], { stdio: 'inherit' });
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
