import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { JobProgress } from '../../../src/export/jobs/job-progress.ts';
import type { JobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import type { StoredJob } from '../../../src/export/ports.ts';

type Step = Parameters<JobQueue['advance']>[1];

const claimAt = (progress: number, pageCount: number) =>
  ({ attempt: 1, jobId: 'se_0000000000000001', progress, pageCount }) as StoredJob;

describe('JobProgress (progress of an export job in the queue)', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function track(advance: (step: Step) => Promise<boolean> = async () => true, claim = claimAt(0, 0)) {
    const steps: Step[] = [];
    const onLost = vi.fn();
    const queue = {
      advance: (_: StoredJob, step: Step) => {
        steps.push(step);
        return advance(step);
      },
    } as unknown as JobQueue;
    return { steps, onLost, progress: new JobProgress(queue, claim, onLost) };
  }

  it('writes at most four times per second, and always the last value', async () => {
    const { progress, steps } = track();
    const collect = progress.reporterOf('collect');
    for (let page = 1; page <= 100; page++) {
      collect(page, 100, page);
      await vi.advanceTimersByTimeAsync(10);
    }
    expect(steps.length).toBeLessThanOrEqual(5);
    await vi.advanceTimersByTimeAsync(250);
    expect(steps.at(-1)).toEqual({ progress: 35, pageCount: 100 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect(steps.length).toBeLessThanOrEqual(6);
  });

  it('never decreases between steps, and never goes below the progress of an earlier attempt', async () => {
    const { progress, steps } = track(undefined, claimAt(50, 7));
    progress.reporterOf('collect')(1, 1, 3);
    await vi.advanceTimersByTimeAsync(250);
    expect(steps.at(-1)).toEqual({ progress: 50, pageCount: 7 });
    progress.reporterOf('search')(1, 0);
    progress.reporterOf('pack')(1, 2);
    await vi.advanceTimersByTimeAsync(250);
    progress.reporterOf('check')(1, 1);
    await vi.advanceTimersByTimeAsync(250);
    expect(steps.at(-1)).toEqual({ progress: 87.5, pageCount: 7 });
  });

  it('runs its writes to the queue one after the other, without overlap', async () => {
    let writing = 0;
    let writingMax = 0;
    const { progress, steps } = track(async () => {
      writing += 1;
      writingMax = Math.max(writingMax, writing);
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      writing -= 1;
      return true;
    });
    progress.reporterOf('collect')(1, 2, 1);
    await vi.advanceTimersByTimeAsync(1);
    progress.reporterOf('collect')(2, 2, 2);
    const written = progress.checkpoint('table');
    await vi.advanceTimersByTimeAsync(3_000);
    await written;
    expect(writingMax).toBe(1);
    expect(steps.at(-1)).toEqual({ progress: 35, pageCount: 2, checkpoint: 'table' });
  });

  it('writes nothing after settle()', async () => {
    const { progress, steps } = track();
    progress.reporterOf('collect')(1, 2);
    await vi.advanceTimersByTimeAsync(1);
    progress.reporterOf('collect')(2, 2);
    await progress.settle();
    const { length } = steps;
    await vi.advanceTimersByTimeAsync(5_000);
    expect([steps.length, vi.getTimerCount()]).toEqual([length, 0]);
  });

  it('calls onLost if another attempt has taken the job, but not if the queue fails', async () => {
    const lost = track(async () => false);
    await lost.progress.checkpoint('table');
    expect(lost.onLost).toHaveBeenCalledTimes(1);
    const failing = track(async () => {
      throw new Error('the disk is full');
    });
    await failing.progress.checkpoint('table');
    expect(failing.onLost).not.toHaveBeenCalled();
  });
});
