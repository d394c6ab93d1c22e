import { expect, it } from 'vitest';
import type { ServingReport } from '../../../src/app/workers/orders.ts';
import { Reports, requestsOf } from '../../../src/app/workers/reports.ts';

const served = (status: number) => ({ site: 'docs', status, bytes: 10, durationMs: 1 });

/** A daemon that takes reports from `take` on. */
function open() {
  const taken: ServingReport[] = [];
  const waiting = Promise.withResolvers<void>();
  const lost: number[] = [];
  const send = async (report: ServingReport): Promise<void> => {
    taken.push(report);
    await waiting.promise;
  };
  const reports = new Reports(send, (lines) => lost.push(lines));
  return { reports, taken, take: waiting.resolve, lost };
}

it('what is done while the daemon takes nothing is counted once it does', async () => {
  const { reports, taken, take, lost } = open();
  const line = `${'x'.repeat(999)}\n`;
  const count = 30_000;
  for (let at = 0; at < count; at++) {
    reports.served(served(at % 2 === 0 ? 200 : 404));
    reports.cache('docs', true);
    reports.line(() => line);
  }
  const flushed = reports.flush();
  expect(taken).toHaveLength(1);
  take();
  await flushed;
  const requests = taken.flatMap((report) => [...requestsOf(report)]);
  expect(requests).toHaveLength(count);
  expect(requests.every(({ site }) => site === 'docs')).toBe(true);
  expect(taken.flatMap(({ cache }) => cache).reduce((sum, [, hits]) => sum + hits, 0)).toBe(count);
  const lines = taken.reduce((sum, report) => sum + report.lines.length / line.length, 0);
  expect(lines).toBeGreaterThan(5_000);
  expect(lines + lost.reduce((sum, each) => sum + each, 0)).toBe(count);
});

it('files read for a request that has not ended are counted by a flush', async () => {
  const { reports, taken, take } = open();
  take();
  reports.cache('docs', false);
  await reports.flush();
  expect(taken.map(({ cache }) => cache)).toEqual([[['docs', 0, 1]]]);
});
