import { expect, test } from 'vitest';
import { openDatabase } from '../../../../src/export/jobs/queue/sqlite.ts';
import { SQLITE_STATEMENTS } from '../../../../src/export/jobs/queue/statements.ts';
import { newFolder } from '../../../helpers/new-folder.ts';

/** Matches scans of indexes of active jobs. Active jobs are few, so that a full scan is fine. */
const OF_WORKING_JOBS = /^SCAN \w+ USING (?:COVERING )?INDEX (?:queued|running)$/;
/** Matches scans that read no table: the heads of the queues, and single rows of subqueries. */
const SMALL = /^SCAN (?:head|CONSTANT ROW)\b/;

test('the SQL statements of the job queue, except the hourly cleanup, do not scan ended jobs, and sort no lists', async () => {
  const database = openDatabase(`${newFolder()}/jobs.sqlite`, { monotonicMs: () => 0 });
  // pruneBeyond counts the ended jobs of each domain. It runs once an hour.
  const { pruneBeyond: _, ...frequent } = SQLITE_STATEMENTS;
  const slow = Object.entries(frequent).flatMap(([name, { text }]) => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${text}`).all() as unknown as { detail: string }[];
    return plan
      .map(({ detail }) => detail)
      .filter((detail) => detail.startsWith('SCAN') && !OF_WORKING_JOBS.test(detail) && !SMALL.test(detail))
      .concat(plan.some(({ detail }) => detail.includes('TEMP B-TREE')) && name.startsWith('list') ? ['sorts'] : [])
      .map((detail) => `${name}: ${detail}`);
  });
  database.close();
  expect(slow).toEqual([]);
});
