import { afterEach, beforeEach, expect } from 'vitest';
import { DocshelfError } from '../../../src/domain/errors.ts';
import type { ExportedBundle } from '../../../src/domain/job.ts';
import type { JobQueue } from '../../../src/export/jobs/queue/sql-job-queue.ts';
import type { NewJob, StoredJob } from '../../../src/export/ports.ts';
import { BUNDLE, faultOf, jobIdOf, LEASE_MS, newJob, QUEUED_MAX, reportOf } from './jobs.ts';
import type { SharedClocks } from './shared-clocks.ts';
import type { OpenSubject, Subject } from './subject.ts';

/** A separate queue per test, and common steps of the contract tests. */
export class Workbench {
  #subject: Subject | null = null;

  constructor(open: OpenSubject) {
    beforeEach(async () => {
      this.#subject = await open();
    });
    afterEach(async () => {
      await this.subject.assertSound();
      await this.subject.close();
    });
  }

  get subject(): Subject {
    if (this.#subject === null) throw new Error('used outside of a test');
    return this.#subject;
  }

  get queue(): JobQueue {
    return this.subject.queue;
  }

  get clocks(): SharedClocks {
    return this.subject.clocks;
  }

  add(name: string, changes: Partial<NewJob> = {}): Promise<StoredJob> {
    return this.queue.add(newJob(jobIdOf(name), { domain: name, ...changes }), QUEUED_MAX);
  }

  async get(name: string): Promise<StoredJob> {
    const job = await this.queue.get(jobIdOf(name));
    if (job === null) throw new Error(`there is no job ${name}`);
    return job;
  }

  /** Claims a job, and fails if there is none. */
  async claim(queue = this.queue): Promise<StoredJob> {
    const claim = await queue.claim(LEASE_MS);
    if (claim === null) throw new Error('there is nothing to claim');
    return claim;
  }

  /** Adds, claims and completes a job, while no other job is queued. */
  async completed(name: string, changes: Partial<NewJob> = {}, bundle: ExportedBundle = BUNDLE): Promise<StoredJob> {
    await this.add(name, changes);
    const claim = await this.claim();
    expect(await this.queue.complete(claim, bundle, reportOf(claim.jobId))).toBe(true);
    return this.get(name);
  }

  async failed(name: string, changes: Partial<NewJob> = {}): Promise<StoredJob> {
    await this.add(name, changes);
    expect(await this.queue.fail(await this.claim(), faultOf('the folder is not there'), null)).toBe(true);
    return this.get(name);
  }

  /** Tries each write that a claim allows, and expects that none has an effect. */
  async expectPowerless(claim: StoredJob, queue = this.queue): Promise<void> {
    const before = await queue.get(claim.jobId);
    expect(await queue.renew(claim)).toBe('lost');
    expect(await queue.advance(claim, { progress: 99, pageCount: 99, checkpoint: 'of a lost claim' })).toBe(false);
    expect(await queue.complete(claim, BUNDLE, reportOf(claim.jobId))).toBe(false);
    expect(await queue.fail(claim, faultOf('of a lost claim'), reportOf(claim.jobId))).toBe(false);
    await queue.release(claim);
    expect(await queue.get(claim.jobId)).toEqual(before);
  }
}

/** Code of the error of a call. */
export async function codeOf(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'none';
  } catch (error) {
    return error instanceof DocshelfError ? error.code : `no DocshelfError: ${error}`;
  }
}
