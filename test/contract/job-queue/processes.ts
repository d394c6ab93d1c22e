import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { BUNDLE, jobIdOf, LEASE_MS, reportOf } from './jobs.ts';
import type { OpenSubject } from './subject.ts';
import { Workbench } from './workbench.ts';

/** Real processes on one queue: killed during writes, and concurrently. */
export function processes(open: OpenSubject): void {
  const bench = new Workbench(open);

  /** Lines of a process. `first` resolves with the first line, `all` after the end. */
  function linesOf(child: ChildProcess) {
    const lines: string[] = [];
    const reader = createInterface({ input: child.stdout as NonNullable<ChildProcess['stdout']> });
    reader.on('line', (line) => lines.push(line));
    const first = once(reader, 'line').then(() => undefined);
    return { lines, first, all: once(reader, 'close').then(() => lines) };
  }

  test('keeps acknowledged writes if a process is killed with -9 while it writes, and gives the job to another process', {
    timeout: 60_000,
  }, async () => {
    await bench.add('one');
    let written = 0;
    for (const [round, afterMs] of [3, 17, 40, 91].entries()) {
      const child = bench.subject.start('hold');
      const { lines, first, all } = linesOf(child);
      await first;
      await sleep(afterMs);
      child.kill('SIGKILL');
      await all;
      expect(lines[0]).toBe(jobIdOf('one'));
      written = Math.max(written, ...lines.slice(1).map(Number));
      await bench.subject.assertSound();

      const job = await bench.get('one');
      expect(job).toMatchObject({ status: 'running', attempt: 2 * round + 1 });
      expect(job.pageCount).toBeGreaterThanOrEqual(written);
      written = job.pageCount;
      const isProven = await bench.queue.claim(LEASE_MS);
      if (isProven === null) bench.clocks.wait(LEASE_MS);
      const claim = isProven ?? (await bench.claim());
      expect(claim).toMatchObject({ attempt: 2 * round + 2, jobId: jobIdOf('one') });
      await bench.queue.release(claim);
    }
    const last = await bench.claim();
    expect(await bench.queue.complete(last, BUNDLE, reportOf(last.jobId))).toBe(true);
    expect(written).toBeGreaterThan(0);
  });

  test('ends every job exactly once while two processes add, claim and complete jobs', {
    timeout: 60_000,
  }, async () => {
    const jobsEach = 100;
    const workers = ['a', 'b'].map((letter) => linesOf(bench.subject.start('work', letter, String(jobsEach))));
    const completed = (await Promise.all(workers.map(({ all }) => all))).flat();

    const expected = ['a', 'b'].flatMap((letter) =>
      Array.from({ length: jobsEach }, (_, i) => jobIdOf(`${letter}${i}`)),
    );
    expect(completed.toSorted()).toEqual(expected.toSorted());
    expect(await bench.queue.counts()).toEqual({ queued: 0, running: 0 });
    for (const jobId of expected) {
      expect(await bench.queue.get(jobId)).toMatchObject({ status: 'completed', attempt: 1 });
    }
  });
}
