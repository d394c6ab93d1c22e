import { describe, test } from 'vitest';
import { HAS_POSTGRES } from '../helpers/postgres.ts';
import { leases } from './job-queue/leases.ts';
import { lifeOfAJob } from './job-queue/life.ts';
import { listing } from './job-queue/listing.ts';
import { postgresSubject } from './job-queue/postgres-subject.ts';
import { processes } from './job-queue/processes.ts';
import { type OpenSubject, sqliteSubject } from './job-queue/subject.ts';
import { turns } from './job-queue/turns.ts';

/** Contract of each JobQueue (src/export/ports.ts), for all kinds. */
const SUBJECTS: readonly (readonly [name: string, isThere: boolean, open: OpenSubject])[] = [
  ['a file', true, sqliteSubject],
  ['PostgreSQL', HAS_POSTGRES, postgresSubject()],
];

describe.for(SUBJECTS)('job queue in %s', ([, isThere, open]) => {
  if (!isThere) return test.skip('is skipped because PostgreSQL is not available');
  describe('the queue', () => lifeOfAJob(open));
  describe('the queue, listing jobs', () => listing(open));
  describe('the queue, with leases', () => leases(open));
  describe('the queue, choosing the next job', () => turns(open));
  describe('the queue, with several processes', () => processes(open));
});
