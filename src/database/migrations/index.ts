import { API_KEYS } from './api-keys.ts';
import { EXPORT_JOB_FAULTS, EXPORT_JOB_LEASES, EXPORT_JOB_TRACES, EXPORT_JOBS } from './export-jobs.ts';
import { REQUEST_COUNTS } from './request-counts.ts';

/**
 * The steps that the schema is made of, the oldest first; its version is how many were taken. One that has been in a release stays as it
 * is: a change is another step.
 */
export const MIGRATIONS: readonly string[] = [
  EXPORT_JOBS,
  API_KEYS,
  REQUEST_COUNTS,
  EXPORT_JOB_TRACES,
  EXPORT_JOB_FAULTS,
  EXPORT_JOB_LEASES,
];
