import { expect, it, vi } from 'vitest';
import { ProcessorLimit } from '../../src/threads/index.ts';

/** A thread that has used what the test says. */
function measured(usedMs: number | null) {
  const thread = { usedMs, processorMs: async () => thread.usedMs };
  return thread;
}

it('ends work that takes more processor time than its limit, once', async () => {
  const thread = measured(5_000);
  const over = vi.fn();
  using limit = new ProcessorLimit(thread, 50, over);
  limit.begin();
  await vi.waitFor(() => {
    thread.usedMs = (thread.usedMs ?? 0) + 60;
    expect(over).toHaveBeenCalled();
  });
  expect([limit.isOver, over.mock.calls.length]).toEqual([true, 1]);
});

it('lets work go on that waits for a processor, and counts each piece by itself', async () => {
  const thread = measured(0);
  const over = vi.fn();
  using limit = new ProcessorLimit(thread, 50, over);
  for (let piece = 0; piece < 4; piece += 1) {
    limit.begin();
    await new Promise((resolve) => setTimeout(resolve, 70));
    thread.usedMs = (thread.usedMs ?? 0) + 40;
    limit.end();
  }
  expect(over).not.toHaveBeenCalled();
});

it('goes by the clock in the end, for work that uses no processor or does not say', async () => {
  const over = vi.fn();
  using limit = new ProcessorLimit(measured(null), 10, over);
  limit.begin();
  await vi.waitFor(() => expect(over).toHaveBeenCalledTimes(1), 30_000);
});
