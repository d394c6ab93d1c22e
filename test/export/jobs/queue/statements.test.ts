import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { SCHEMA } from '../../../../src/export/jobs/queue/database.ts';
import { SQL } from '../../../../src/export/jobs/queue/statements.ts';

/** Indexes that hold working jobs only, which are few: they may be read from end to end. */
const OF_WORKING_JOBS = /^SCAN jobs USING (?:COVERING )?INDEX (?:queued|running)$/;
/** The heads of the queues and the one row of a subquery are no tables. */
const SMALL = /^SCAN (?:head|CONSTANT ROW)\b/;

test('no statement reads through the jobs that have ended, or sorts what it lists', () => {
  const database = new DatabaseSync(':memory:');
  database.exec(SCHEMA);
  const slow = Object.entries(SQL).flatMap(([name, sql]) => {
    const plan = database.prepare(`EXPLAIN QUERY PLAN ${sql}`).all() as unknown as { detail: string }[];
    return plan
      .map(({ detail }) => detail)
      .filter((detail) => detail.startsWith('SCAN') && !OF_WORKING_JOBS.test(detail) && !SMALL.test(detail))
      .concat(plan.some(({ detail }) => detail.includes('TEMP B-TREE')) && name.startsWith('list') ? ['sorts'] : [])
      .map((detail) => `${name}: ${detail}`);
  });
  database.close();
  expect(slow).toEqual([]);
});
