import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HEAPS, Thread, ThreadPool, threadEntry } from '../../src/threads/index.ts';
import { watchThreads } from '../helpers/watch-threads.ts';
import type { TestCalls } from './worker.ts';

const options = { task: 'test', heap: HEAPS.queue, entry: threadEntry('./worker', import.meta) };

let watched: ReturnType<typeof watchThreads>;
let pool: ThreadPool<TestCalls>;
beforeEach(() => {
  watched = watchThreads();
  pool = new ThreadPool(() => new Thread<TestCalls>(options));
});
afterEach(async () => {
  await pool.end();
  expect(watched.alive()).toBe(0);
  watched.stop();
});

const count = () => pool.run((thread) => thread.call('count', null));

describe('ThreadPool', () => {
  it('reuses a free thread, and starts one if none is free', async () => {
    expect(await count()).toBe(1);
    expect(await count()).toBe(2);
    expect((await Promise.all([count(), count()])).sort()).toEqual([1, 3]);
    expect(watched.started).toHaveLength(2);
  });

  it('terminates the thread of a failed call before it rejects the call', async () => {
    await count();
    await expect(pool.run((thread) => thread.call('fail', null))).rejects.toMatchObject({ message: 'unforeseen' });
    expect(watched.alive()).toBe(0);
    expect(await count()).toBe(1);
  });

  it('terminates the thread of an aborted call', async () => {
    const signal = AbortSignal.timeout(50);
    const spinning = pool.run((thread) => thread.call('spin', null, { signal }));
    await expect(spinning).rejects.toMatchObject({ name: 'TimeoutError' });
    expect(watched.alive()).toBe(0);
  });

  it('names the task of a failed call in the error, or the default task if the call has none', async () => {
    const exit = (task?: string) =>
      pool.run((thread) => thread.call('exit', 3, task === undefined ? {} : { task }).catch(({ message }) => message));
    expect(await exit('read "a"')).toBe('Cannot read "a": its thread ended with 3');
    expect(await exit()).toBe('Cannot test: its thread ended with 3');
  });

  it('ends a free thread after a short time', async () => {
    await count();
    await expect.poll(() => watched.alive()).toBe(0);
  });
});
