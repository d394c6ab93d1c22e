import { expect, test } from 'vitest';
import { Journal } from '../../src/deploy/status.ts';
import { fault } from './workbench.ts';

test('the journal of a site reports a failed fetch until the deployment succeeds, even after a newer error of the inbox', () => {
  const journal = new Journal(() => undefined);
  journal.failed('deploy', fault('source_timeout'));
  journal.failed('inbox', fault('truncated'));
  expect([journal.lastError?.code, journal.isFetchFailing]).toEqual(['truncated', true]);
  journal.recovered();
  expect([journal.lastError, journal.isFetchFailing]).toEqual([null, false]);
});
