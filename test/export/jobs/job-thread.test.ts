import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type JobThread, openJobThread } from '../../../src/export/jobs/run-job.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { watchThreads } from '../../helpers/watch-threads.ts';

const ENTRY = new URL('../../../src/app/export-thread.ts', import.meta.url);

let dir: string;
let watched: ReturnType<typeof watchThreads>;
beforeEach(async () => {
  dir = newFolder();
  for (const name of ['files', 'manifests', 'records']) await mkdir(join(dir, name));
  watched = watchThreads();
});
afterEach(async () => {
  watched.stop();
});

const seen = () => [watched.started.length, watched.alive()];

/** A step with almost no work. */
const sweep = (thread: JobThread) =>
  thread.call('sweep', {
    keep: [],
    olderThanMs: 1e9,
    filesDir: join(dir, 'files'),
    manifestsDir: join(dir, 'manifests'),
    recordsDir: join(dir, 'records'),
  });

describe('JobThread (worker thread of an export job)', () => {
  it('uses one thread for consecutive steps, and a new thread after terminate()', async () => {
    const thread = openJobThread(ENTRY, new AbortController().signal);
    expect(watched.started).toEqual([]);
    await sweep(thread);
    await sweep(thread);
    expect(seen()).toEqual([1, 1]);
    await thread.terminate();
    expect(watched.alive()).toBe(0);
    await sweep(thread);
    expect(seen()).toEqual([2, 1]);
    await thread.terminate();
    await thread.terminate();
    expect(watched.alive()).toBe(0);
  });

  it('starts no step after the job is aborted', async () => {
    const stop = new AbortController();
    const thread = openJobThread(ENTRY, stop.signal);
    const reason = new Error('canceled');
    stop.abort(reason);
    await expect(sweep(thread)).rejects.toBe(reason);
    expect(watched.started).toEqual([]);
  });

  it('rejects with worker_ended if its thread has died', async () => {
    const dying = new URL('data:text/javascript,process.exit(3)');
    const thread = openJobThread(dying, new AbortController().signal);
    await expect(sweep(thread)).rejects.toMatchObject({ code: 'worker_ended' });
    await expect(sweep(thread)).rejects.toMatchObject({ code: 'worker_ended' });
    await thread.terminate();
  });
});
