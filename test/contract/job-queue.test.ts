import { describe } from 'vitest';
import { leases } from './job-queue/leases.ts';
import { lifeOfAJob } from './job-queue/life.ts';
import { listing } from './job-queue/listing.ts';
import { processes } from './job-queue/processes.ts';
import { type OpenSubject, sqliteSubject } from './job-queue/subject.ts';
import { turns } from './job-queue/turns.ts';

/** What every JobQueue keeps (src/export/ports.ts), wherever its jobs are. */
const SUBJECTS: readonly (readonly [name: string, open: OpenSubject])[] = [['SqliteJobQueue', sqliteSubject]];

describe.each(SUBJECTS)('%s', { timeout: 30_000 }, (_name, open) => {
  describe('the life of a job', () => lifeOfAJob(open));
  describe('list()', () => listing(open));
  describe('leases', () => leases(open));
  describe('turns', () => turns(open));
  describe('processes', () => processes(open));
});
