import type { ExportRequest, JobStatus } from '../domain/job.ts';
import { exportRequestSchema, JOBS_LIMIT_DEFAULT, jobQuerySchema, type WrittenExportRequest } from './export-schema.ts';
import { badField, requestChecker } from './request-check.ts';

const PATTERNS = {
  version: 'a version: 1 to 128 letters, digits, ".", "_", "+" or "-", beginning with a letter or digit',
  'paths[]': 'a path on the site, without scheme, host, "..", backslash and control characters',
};

/** What came as JSON, as an export request. @throws DocshelfError `bad_request`, naming the field. */
export function exportRequestParser(): (written: unknown) => ExportRequest {
  const check = requestChecker<WrittenExportRequest>('export', exportRequestSchema, PATTERNS);
  return (written) => {
    const { domain, version = null, paths = null } = check(written);
    return { domain, version, paths };
  };
}

/** Which jobs are listed. */
export interface JobQuery {
  /** By label or by host. */
  readonly domain?: string;
  readonly status?: JobStatus;
  readonly limit: number;
  readonly cursor?: string;
}

/** The parameters of `GET /jobs`; an empty one says nothing. @throws DocshelfError `bad_request`, naming the parameter. */
export function jobQueryParser(): (parameters: URLSearchParams) => JobQuery {
  const act = 'list jobs';
  const check = requestChecker<Partial<JobQuery>>(act, jobQuerySchema);
  return (parameters) => {
    for (const name of parameters.keys()) {
      if (parameters.getAll(name).length > 1) throw badField(act, name, 'is there more than once');
    }
    const given = [...parameters].filter(([, text]) => text !== '');
    const written = given.map(([name, text]) => [name, name === 'limit' ? integerOf(text) : text]);
    return { limit: JOBS_LIMIT_DEFAULT, ...check(Object.fromEntries(written)) };
  };
}

/** The text itself where it is no integer, for the check to refuse. */
function integerOf(text: string): number | string {
  return /^\d{1,9}$/.test(text) ? Number(text) : text;
}
