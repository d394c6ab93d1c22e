import { pino } from 'pino';
import { expect, it } from 'vitest';
import { logJobEvent } from '../../../src/app/log/log-events.ts';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { Job } from '../../../src/domain/job.ts';
import type { JobEvent } from '../../../src/export/index.ts';

const job: Job = {
  ...{ jobId: 'se_0000000000000001', domain: 'acme', version: null, status: 'running', progress: 0, pageCount: 0 },
  ...{ createdAt: '2026-11-01T00:00:00.000Z', updatedAt: '2026-11-01T00:00:00.000Z', error: null },
};

function lineOf(event: JobEvent): Record<string, unknown> {
  let text = '';
  const write = (line: string): void => {
    text += line;
  };
  logJobEvent(pino({ base: null }, { write }), event);
  return JSON.parse(text) as Record<string, unknown>;
}

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
