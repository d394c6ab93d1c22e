import { expect, it } from 'vitest';
import { once } from '../../src/threads/once.ts';

it('once() returns the same result to all calls, and does not cache a failure', async () => {
  let calls = 0;
  const made = once(async () => {
    calls += 1;
    if (calls === 1) throw new Error('a file that was away');
    return { calls };
  });
  const failed = await Promise.allSettled([made(), made()]);
  expect(failed.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  const [one, other] = await Promise.all([made(), made()]);
  expect([one.calls, other === one]).toEqual([2, true]);
});
