import { pino } from 'pino';
import { expect, it } from 'vitest';
import type { Logger } from '../../../src/app/log/log.ts';
import { logJobEvent, logSearchEvent } from '../../../src/app/log/log-events.ts';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { Job } from '../../../src/domain/job.ts';
import type { JobEvent } from '../../../src/export/index.ts';

const job: Job = {
  ...{ jobId: 'se_0000000000000001', domain: 'acme', version: null, status: 'running', progress: 0, pageCount: 0 },
  ...{ createdAt: '2026-11-01T00:00:00.000Z', updatedAt: '2026-11-01T00:00:00.000Z', error: null },
};

function logged(act: (log: Logger) => void): Record<string, unknown> {
  let text = '';
  const write = (line: string): void => {
    text += line;
  };
  act(pino({ base: null }, { write }));
  return JSON.parse(text) as Record<string, unknown>;
}

const lineOf = (event: JobEvent) => logged((log) => logJobEvent(log, event));

it.each<JobEvent>([
  { kind: 'started', job, attempt: 2 },
  { kind: 'completed', job, tookMs: 1_234 },
  { kind: 'failed', job, error: new DocshelfError('canceled', 'Cannot export "acme": the job was canceled') },
  { kind: 'failed', job, error: new DocshelfError('bad_source', 'Cannot export "acme": no page') },
  { kind: 'left', job },
  { kind: 'fault', job, error: new DocshelfError('database_unavailable', 'Cannot use the database: away') },
])('the log line of the job event "$kind" contains the job ID and the domain once', (event) => {
  expect(lineOf(event)).toMatchObject({ jobId: job.jobId, domain: 'acme', event: expect.any(String) });
});

it('the log line of a queue error contains no job ID', () => {
  const error = new DocshelfError('database_unavailable', 'Cannot use the database: away');
  expect(lineOf({ kind: 'fault', job: null, error })).not.toHaveProperty('jobId');
});

it('the log line of a rebuilt search index contains an error code only if the index was damaged', () => {
  const rebuilding = (error: DocshelfError | null) =>
    logged((log) => logSearchEvent(log, { kind: 'rebuilding', error }));
  expect(rebuilding(null)).toMatchObject({ event: 'rebuilding', msg: 'building the missing search index' });
  expect(rebuilding(null)).not.toHaveProperty('code');
  const error = new DocshelfError('index_damaged', 'Cannot read the search index');
  expect(rebuilding(error)).toMatchObject({ event: 'rebuilding', code: 'index_damaged' });
});
