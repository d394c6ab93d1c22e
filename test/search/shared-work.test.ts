import { expect, it } from 'vitest';
import { SharedWork } from '../../src/search/shared-work.ts';

/** Work that ends when it is told to, and counts how often it was begun. */
function slowWork() {
  const shared = new SharedWork<string>();
  const begun: { end: PromiseWithResolvers<string>; signal: AbortSignal }[] = [];
  const work = (signal: AbortSignal): Promise<string> => {
    const end = Promise.withResolvers<string>();
    begun.push({ end, signal });
    return end.promise;
  };
  return { begun, run: (key: string, signal = new AbortController().signal) => shared.run(key, work, signal) };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('does work once for all who ask while it is under way, and anew for whoever asks after it', async () => {
  const { begun, run } = slowWork();
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

it('goes on where one of two leaves it, and is given up by the last, who waits for its end', async () => {
  const { begun, run } = slowWork();
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
  await turn();
  expect([begun[0]?.signal.aborted, isOver]).toEqual([true, false]);
  begun[0]?.end.reject(begun[0].signal.reason);
  await expect(second).rejects.toThrow('the second has enough');
});

it('begins anew, and not before the end of what is being given up', async () => {
  const { begun, run } = slowWork();
  const abort = new AbortController();
  const first = run('june', abort.signal);
  abort.abort(new Error('enough'));
  const next = run('june');
  await turn();
  expect(begun).toHaveLength(1);
  begun[0]?.end.reject(new Error('enough'));
  await expect(first).rejects.toThrow('enough');
  await turn();
  begun[1]?.end.resolve('whole');
  expect(await next).toBe('whole');
});

it('begins nothing for a signal that is aborted already', async () => {
  const { begun, run } = slowWork();
  await expect(run('june', AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
  expect(begun).toEqual([]);
});
