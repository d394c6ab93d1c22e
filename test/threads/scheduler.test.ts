import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { Scheduler, type SchedulerOptions, type Turn } from '../../src/threads/scheduler.ts';

const tick = () => new Promise((resolve) => setImmediate(resolve));

/** Tasks that run until the test ends them. */
function openScheduler(options: SchedulerOptions | number) {
  const scheduler = new Scheduler(options);
  const begun: { readonly name: string; readonly end: PromiseWithResolvers<string> }[] = [];
  return {
    scheduler,
    begun: () => begun.map(({ name }) => name),
    run: (name: string, turn?: Turn) =>
      scheduler.run(() => {
        const end = Promise.withResolvers<string>();
        begun.push({ name, end });
        return end.promise;
      }, turn),
    end: async (at: number) => {
      begun[at]?.end.resolve(`result ${at}`);
      await tick();
    },
    fail: async (at: number) => {
      begun[at]?.end.reject(new Error('failed'));
      await tick();
    },
  };
}

describe('Scheduler', () => {
  it('runs all tasks, at most `max` at once, even if some tasks fail', async () => {
    const scheduler = new Scheduler(2);
    let running = 0;
    let most = 0;
    const results = await Promise.allSettled(
      Array.from({ length: 9 }, (_, at) =>
        scheduler.run(async () => {
          most = Math.max(most, ++running);
          await tick();
          running--;
          if (at % 3 === 0) throw new Error('failed');
        }),
      ),
    );
    expect(most).toBe(2);
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(6);
  });

  it('alternates between keys, however many tasks one key has', async () => {
    const { begun, run, end, fail } = openScheduler(8);
    for (let calls = 0; calls < 100; calls += 1) void run('acme', { key: 'acme' }).catch(() => undefined);
    for (const key of ['beta', 'gamma', 'beta']) void run(key, { key });
    expect(begun()).toEqual(Array.from({ length: 8 }, () => 'acme'));
    for (const at of [0, 1, 2]) await end(at);
    await fail(3);
    for (const at of [4, 5]) await end(at);
    expect(begun().slice(8)).toEqual(['acme', 'beta', 'gamma', 'acme', 'beta', 'acme']);
  });

  it('gives no extra turns to a key that had no tasks for a while', async () => {
    const { begun, run, end } = openScheduler(1);
    void run('beta', { key: 'beta' });
    for (let calls = 0; calls < 6; calls += 1) void run('acme', { key: 'acme' });
    for (let at = 0; at < 4; at += 1) await end(at);
    for (let calls = 0; calls < 3; calls += 1) void run('beta', { key: 'beta' });
    for (let at = 4; at < 9; at += 1) await end(at);
    expect(begun().slice(5)).toEqual(['acme', 'beta', 'acme', 'beta', 'beta']);
  });

  it('runs tasks of other keys if `keyMax` limits the tasks of one key', async () => {
    const { begun, run, end } = openScheduler({ max: 3, keyMax: 2 });
    for (let calls = 0; calls < 4; calls += 1) void run('acme', { key: 'acme' });
    void run('beta', { key: 'beta' });
    expect(begun()).toEqual(['acme', 'acme', 'beta']);
    await end(2);
    expect(begun()).toHaveLength(3);
    await end(0);
    expect(begun().slice(3)).toEqual(['acme']);
  });

  it('starts the task with the lowest priority number first, and the smallest task among equal priorities', async () => {
    const { begun, run, end } = openScheduler(1);
    void run('first', { key: 'a' });
    void run('late', { key: 'b', priority: 1 });
    void run('large', { key: 'c', size: 9 });
    void run('small', { key: 'd', size: 3 });
    for (let at = 0; at < 3; at += 1) await end(at);
    expect(begun()).toEqual(['first', 'small', 'large', 'late']);
  });

  it('starts more tasks after the limit is raised and look() is called', async () => {
    let max = 1;
    const { begun, scheduler, run } = openScheduler({ max: () => max });
    void run('a');
    void run('b');
    max = 2;
    scheduler.look();
    await tick();
    expect(begun()).toEqual(['a', 'b']);
  });

  it('drops an aborted waiting task and starts the next task', async () => {
    const { scheduler, run, end } = openScheduler(1);
    const abort = new AbortController();
    const first = run('first', { signal: abort.signal });
    const second = run('second', { signal: abort.signal });
    const third = run('third');
    expect(scheduler.waiting).toBe(2);
    abort.abort(new Error('enough'));
    await expect(second).rejects.toThrow('enough');
    expect(scheduler.waiting).toBe(1);
    // A running task checks the signal itself.
    await end(0);
    await end(1);
    expect(await Promise.all([first, third])).toEqual(['result 0', 'result 1']);
    await expect(run('late', { signal: abort.signal })).rejects.toThrow('enough');
  });

  it('forgets keys whose waiting tasks were aborted, although tasks of another key always wait', async () => {
    const { scheduler, run, end } = openScheduler(1);
    for (let calls = 0; calls < 3; calls += 1) void run('busy', { key: 'busy' });
    const forgotten: WeakRef<object>[] = [];
    for (let at = 0; at < 100; at += 1) {
      const left = new AbortController();
      const key = {};
      forgotten.push(new WeakRef(key));
      const waiting = run('left', { key, signal: left.signal });
      left.abort(new Error('left'));
      await waiting.catch(() => undefined);
    }
    await end(0);
    expect(scheduler.waiting).toBe(1);
    setFlagsFromString('--expose-gc');
    runInNewContext('gc')();
    expect(forgotten.filter((each) => each.deref() !== undefined).length).toBeLessThan(10);
    await end(1);
    await end(2);
  });

  it('rejects tasks over the waiting limit of a key, but not tasks of another key', async () => {
    const { scheduler, run, end } = openScheduler({ max: 1, waitingMax: 2, refuse: () => new Error('full') });
    for (let calls = 0; calls < 3; calls += 1) void run('acme', { key: 'acme' });
    await expect(run('acme', { key: 'acme' })).rejects.toThrow('full');
    void run('beta', { key: 'beta' });
    expect(scheduler.waiting).toBe(3);
    await end(0);
    expect(scheduler.waiting).toBe(2);
  });
});

/** Shared work that ends on request and counts its starts. */
function sharedWork() {
  const scheduler = new Scheduler(Number.POSITIVE_INFINITY);
  const begun: { end: PromiseWithResolvers<string>; signal: AbortSignal }[] = [];
  const work = (signal: AbortSignal): Promise<string> => {
    const end = Promise.withResolvers<string>();
    begun.push({ end, signal });
    return end.promise;
  };
  return { begun, run: (share: string, signal?: AbortSignal) => scheduler.run(work, { share, signal }) };
}

describe('Shared task of Scheduler', () => {
  it('runs once for all callers during its run, and again for later callers', async () => {
    const { begun, run } = sharedWork();
    const both = [run('june'), run('june')];
    const other = run('july');
    expect(begun).toHaveLength(2);
    begun[0]?.end.resolve('first');
    begun[1]?.end.reject(new Error('a bad disk'));
    expect(await Promise.all(both)).toEqual(['first', 'first']);
    await expect(other).rejects.toThrow('a bad disk');
    const again = run('june');
    begun[2]?.end.resolve('second');
    expect(await again).toBe('second');
  });

  it('is aborted only if all its callers abort', async () => {
    const { begun, run } = sharedWork();
    const [one, other] = [new AbortController(), new AbortController()];
    const first = run('june', one.signal);
    const second = run('june', other.signal);
    one.abort(new Error('the first has enough'));
    await expect(first).rejects.toThrow('the first has enough');
    expect(begun[0]?.signal.aborted).toBe(false);

    other.abort(new Error('the second has enough'));
    let isOver = false;
    second
      .catch(() => undefined)
      .finally(() => {
        isOver = true;
      });
    await tick();
    expect([begun[0]?.signal.aborted, isOver]).toEqual([true, false]);
    begun[0]?.end.reject(begun[0].signal.reason);
    await expect(second).rejects.toThrow('the second has enough');
  });

  it('continues while a caller without a signal waits', async () => {
    const { begun, run } = sharedWork();
    const abort = new AbortController();
    const first = run('june', abort.signal);
    const second = run('june');
    abort.abort(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    expect(begun[0]?.signal.aborted).toBe(false);
    begun[0]?.end.resolve('whole');
    expect(await second).toBe('whole');
  });

  it('starts again only after the aborted run has ended', async () => {
    const { begun, run } = sharedWork();
    const abort = new AbortController();
    const first = run('june', abort.signal);
    abort.abort(new Error('enough'));
    const next = run('june');
    await tick();
    expect(begun).toHaveLength(1);
    begun[0]?.end.reject(new Error('enough'));
    await expect(first).rejects.toThrow('enough');
    await tick();
    begun[1]?.end.resolve('whole');
    expect(await next).toBe('whole');
  });

  it('does not start if the signal is already aborted', async () => {
    const { begun, run } = sharedWork();
    await expect(run('june', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
    expect(begun).toEqual([]);
  });
});
