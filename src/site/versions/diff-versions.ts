import { DocshelfError } from '../../domain/errors.ts';
import { HEAPS, Thread, ThreadPool, threadEntry } from '../../threads/index.ts';
import { Scheduler } from '../../threads/scheduler.ts';
import type { PagesDiff } from './diff-pages.ts';
import type { DiffCalls, DiffRequest } from './worker.ts';

/** Maximum pages in each list of a comparison. With the longest paths and titles, all lists together take 10 MB. */
const LIST_MAX = 500;
/** Maximum time of a comparison. Operators do not wait longer for a page of the console. */
const DIFF_MS_MAX = 120_000;
/** Maximum waiting comparisons. A further comparison would wait for minutes. */
const WAITING_MAX = 4;

/** Runs one comparison at a time, because a comparison uses a whole processor and keeps two file tables in memory. */
const comparing = new Scheduler({
  max: 1,
  waitingMax: WAITING_MAX,
  refuse: () =>
    new DocshelfError('busy', 'Cannot compare the versions now: another comparison is running', {
      next: 'Try again in a minute.',
      fields: { retryAfterS: 60 },
    }),
});
const threads = new ThreadPool(
  () =>
    new Thread<DiffCalls>({
      task: 'compare the versions',
      heap: HEAPS.mount,
      entry: threadEntry('./worker', import.meta),
    }),
);

/** Compares versions. @throws DocshelfError `busy`, `cannot_read`, `release_damaged`, `deadline_exceeded`, `worker_ended` */
export async function diffVersions(
  request: Pick<DiffRequest, 'before' | 'after'>,
  signal: AbortSignal,
  withinMs = DIFF_MS_MAX,
): Promise<PagesDiff> {
  return comparing.run(
    async () => {
      const late = AbortSignal.timeout(withinMs);
      const ending = AbortSignal.any([signal, late]);
      try {
        return await threads.run((thread) =>
          thread.call('diff', { ...request, listMax: LIST_MAX }, { signal: ending }),
        );
      } catch (error) {
        if (!late.aborted || signal.aborted) throw error;
        throw new DocshelfError(
          'deadline_exceeded',
          `Cannot compare the versions: it takes longer than ${withinMs / 1000} s`,
          {
            next: 'Run "docshelf bundle diff" on the host of the daemon. The command has no time limit.',
          },
        );
      }
    },
    { signal },
  );
}
