import { expect, it, vi } from 'vitest';
import { ProcessorLimit } from '../../src/threads/index.ts';

/** A thread with this processor time. */
function measured(usedMs: number | null) {
  const thread = { usedMs, processorMs: async () => thread.usedMs };
  return thread;
}

it('ProcessorLimit calls its handler exactly once if the work exceeds the processor time limit', async () => {
  const thread = measured(5_000);
  const over = vi.fn();
  using limit = new ProcessorLimit(thread, 50, over);
  limit.begin();
  await vi.waitFor(() => {
    thread.usedMs = (thread.usedMs ?? 0) + 60;
    expect(over).toHaveBeenCalled();
  }, 30_000);
  expect([limit.isOver, over.mock.calls.length]).toEqual([true, 1]);
});

it('ProcessorLimit counts only processor time, and counts each piece of work separately', async () => {
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

it('ProcessorLimit applies a limit of elapsed time if the thread uses no processor or reports no processor time', async () => {
  const over = vi.fn();
  using limit = new ProcessorLimit(measured(null), 10, over);
  limit.begin();
  await vi.waitFor(() => expect(over).toHaveBeenCalledTimes(1), 30_000);
});
