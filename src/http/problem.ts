import { STATUS_CODES } from 'node:http';
import {
  ARCHIVE_CODES,
  BUNDLE_CODES,
  DocshelfError,
  type ErrorCode,
  type OTHER_CODES,
  toDocshelfError,
  type UNAVAILABLE_CODES,
} from '../domain/errors.ts';
import type { Problem } from '../domain/problem.ts';

const STATUS_BY_CODE: Readonly<Record<(typeof UNAVAILABLE_CODES)[number] | (typeof OTHER_CODES)[number], number>> = {
  link_expired: 502,
  link_refused: 502,
  bundle_not_found: 502,
  source_failed: 502,
  source_unreachable: 502,
  source_timeout: 504,
  source_truncated: 502,
  source_encoded: 502,
  // An upload is spooled under the same bound as a download.
  source_too_large: 413,
  source_no_length: 502,
  link_of_another_version: 409,
  too_many_redirects: 502,
  host_not_allowed: 502,
  address_not_allowed: 502,
  port_taken: 503,
  cannot_listen: 503,
  version_not_found: 404,
  no_version: 409,
  no_bundle: 409,
  daemon_unreachable: 503,
  embedder_failed: 502,
  index_building: 503,
  // As with a site that is turned off: not offered here, and asking again does not help.
  search_off: 404,
  export_off: 404,
  // The request is right, and does not fit the state of the domain or job.
  no_source: 409,
  not_completed: 409,
  store_failed: 502,
  link_invalid: 403,
  bundle_link_expired: 403,
  bundle_gone: 410,
  canceled: 409,
  deadline_exceeded: 504,
  export_service_failed: 502,
  job_failed: 502,
  job_timeout: 504,
  // The service lacks something that no client can mend.
  browser_missing: 503,
  browser_failed: 503,
  hosted_search_failed: 502,
  rate_limited: 429,
  queue_full: 429,
  busy: 503,
  stopping: 503,
  usage: 400,
  // The volume is full by measure (RFC 4918, section 11.5), against a volume that refuses and may be mended meanwhile.
  not_enough_space: 507,
  cannot_write: 503,
  cannot_read: 503,
  config_invalid: 422,
  config_not_built: 422,
  bad_source: 422,
  model_invalid: 422,
  data_folder_newer: 503,
  data_folder_older: 503,
  // It is rebuilt by itself.
  index_damaged: 503,
  unauthorized: 401,
  forbidden: 403,
  pinned: 409,
  in_use: 409,
  not_found: 404,
  method_not_allowed: 405,
  bad_request: 400,
  precondition_failed: 412,
  range_not_satisfiable: 416,
  payload_too_large: 413,
  unsupported_media_type: 415,
  internal: 500,
};

/** The status that a fault is answered with; the one place that maps it. An archive or bundle that is refused is 422. */
export function statusOf(code: ErrorCode): number {
  if ((ARCHIVE_CODES as readonly string[]).includes(code) || (BUNDLE_CODES as readonly string[]).includes(code))
    return 422;
  return STATUS_BY_CODE[code as keyof typeof STATUS_BY_CODE];
}

/** An unforeseen fault may name anything: it goes to the log, under the same request id. */
const NEUTRAL = new DocshelfError('internal', 'Cannot answer the request: docshelf has failed', {
  next: 'Look for the request id in the log of docshelf: its line has the cause.',
});

/** Where the fault names no time. */
const RETRY_AFTER_S = 5;

export function problemOf(error: DocshelfError, requestId: string | null): Problem {
  const { code, message, next } = error.code === 'internal' ? NEUTRAL : error;
  const status = statusOf(code);
  return {
    type: 'about:blank',
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: message,
    error: message,
    code,
    ...(next === undefined ? {} : { next }),
    ...(requestId === null ? {} : { requestId }),
  };
}

/**
 * The answer to a fault. Fields become headers: `retryAfterS` of a 429 or 503, `allow` of a 405, `contentRange` of a 416.
 */
export function problemResponse(error: DocshelfError, requestId: string | null): Response {
  const problem = problemOf(error, requestId);
  const headers: Record<string, string> = {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
  };
  if (problem.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (problem.status === 405) headers.Allow = String(error.fields.allow);
  if (problem.status === 416) headers['Content-Range'] = String(error.fields.contentRange);
  if (problem.status === 429 || problem.status === 503) {
    headers['Retry-After'] = String(error.fields.retryAfterS ?? RETRY_AFTER_S);
  }
  // The listener that answers may drain only after the others.
  if (error.code === 'stopping') headers.Connection = 'close';
  return new Response(`${JSON.stringify(problem)}\n`, { status: problem.status, headers });
}

export interface FaultHooks {
  readonly metrics: { onError(code: ErrorCode): void };
  /** A fault with a status of 500 or above; its message may not have been answered. */
  onError?(error: DocshelfError, requestId: string | null): void;
}

/** Answers and counts a fault. */
export function answerFault(cause: unknown, request: Request, requestId: string | null, hooks: FaultHooks): Response {
  const error = request.signal.aborted ? clientLeft() : toDocshelfError(cause);
  hooks.metrics.onError(error.code);
  if (statusOf(error.code) >= 500) hooks.onError?.(error, requestId);
  return problemResponse(error, requestId);
}

/** For the metrics alone: work given up with its client is no fault of ours. */
function clientLeft(): DocshelfError {
  return new DocshelfError('bad_request', 'Cannot answer: the client left before the answer');
}
