import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { JobThread } from '../../src/export/job-thread.ts';

const ENTRY = new URL('../../src/app/export-thread.ts', import.meta.url);

let dir: string;
let running: number;
let started: number;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'docshelf-job-thread-'));
  for (const name of ['files', 'manifests', 'records']) await mkdir(join(dir, name));
  running = 0;
  started = 0;
});
afterEach(() => rm(dir, { recursive: true, force: true }));

function spawn(): Worker {
  const worker = new Worker(ENTRY);
  running += 1;
  started += 1;
  worker.once('exit', () => {
    running -= 1;
  });
  return worker;
}

/** A step that has next to nothing to do. */
const sweep = (thread: JobThread) =>
  thread.sweep({
    keep: [],
    olderThanMs: 1e9,
    filesDir: join(dir, 'files'),
    manifestsDir: join(dir, 'manifests'),
    recordsDir: join(dir, 'records'),
  });

describe('JobThread', { timeout: 30_000 }, () => {
  it('has one thread for steps that follow each other, and a new one after end()', async () => {
    const thread = new JobThread(spawn, new AbortController().signal);
    expect(started).toBe(0);
    await sweep(thread);
    await sweep(thread);
    expect([started, running]).toEqual([1, 1]);
    await thread.end();
    expect(running).toBe(0);
    await sweep(thread);
    expect([started, running]).toEqual([2, 1]);
    await thread.end();
    await thread.end();
    expect(running).toBe(0);
  });

  it('begins no step once it is aborted', async () => {
    const stop = new AbortController();
    const thread = new JobThread(spawn, stop.signal);
    const reason = new Error('canceled');
    stop.abort(reason);
    await expect(sweep(thread)).rejects.toBe(reason);
    expect(started).toBe(0);
  });

  it('says so where its thread has died', async () => {
    const dying = () => new Worker('process.exit(3)', { eval: true });
    const thread = new JobThread(dying, new AbortController().signal);
    await expect(sweep(thread)).rejects.toMatchObject({ code: 'internal' });
    await expect(sweep(thread)).rejects.toMatchObject({ code: 'internal' });
    await thread.end();
  });
});
