import { createHash } from 'node:crypto';
import type { ExportedBundle, ExportReport, JobFault } from '../../../src/domain/job.ts';
import type { NewJob } from '../../../src/export/ports.ts';

export const LEASE_MS = 15_000;
export const QUEUED_MAX = 1000;
export const BUNDLE: ExportedBundle = { sha256: 'a'.repeat(64), sizeBytes: 12_345, contentSha256: 'b'.repeat(64) };

/** The same job id for the same name. */
export function jobIdOf(name: string): string {
  return `se_${createHash('sha256').update(name).digest('hex').slice(0, 16)}`;
}

export function newJob(jobId: string, changes: Partial<NewJob> = {}): NewJob {
  return { jobId, organizationId: 'acme', domain: 'docs', version: null, paths: null, traceparent: null, ...changes };
}

export function reportOf(jobId: string): ExportReport {
  const finding = { kind: 'broken_reference', page: 'index.html', detail: 'missing.html' };
  return { jobId, pages: 2, files: 3, bytes: 4, counts: { broken_reference: 1 }, findings: [finding] };
}

export const faultOf = (message: string): JobFault => ({ code: 'bad_source', message, next: null });

export const bundleOf = (digit: string): ExportedBundle => ({
  sha256: digit.repeat(64),
  sizeBytes: 1,
  contentSha256: `f${digit.repeat(63)}`,
});
