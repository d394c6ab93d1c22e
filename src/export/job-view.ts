import type { Job } from '../domain/job.ts';
import type { StoredJob } from './ports.ts';

/** A job as clients see it: nothing of what the service knows besides. */
export function jobView(stored: StoredJob): Job {
  const { jobId, domain, version, status, progress, pageCount, createdAt, updatedAt, error } = stored;
  return { jobId, domain, version, status, progress, pageCount, createdAt, updatedAt, error };
}
