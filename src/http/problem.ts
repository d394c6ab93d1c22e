import { STATUS_CODES } from 'node:http';
import { DocshelfError, type ErrorCode, type Problem, statusOf, toDocshelfError } from '../domain/errors.ts';
import { OWN_HEADERS } from '../domain/own-headers.ts';

/**
 * Replaces a database error in public responses, because its message can contain the database's address. Does not replace errors
 * with `isForCallers`.
 */
const DATABASE_AWAY = new DocshelfError(
  'database_unavailable',
  'Cannot process the request now: the database does not respond',
  {
    next: 'Try again in a few seconds. The operator of this service finds the error in its log.',
  },
);

/** Response to an unexpected error, whose own message can contain secrets. The log contains that message with the request id. */
const NEUTRAL = new DocshelfError('internal', 'Cannot process the request: docshelf failed', {
  next: 'Search the log of docshelf for the request ID. The log line contains the cause.',
});

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

export function problemResponse(error: DocshelfError, requestId: string | null): Response {
  const problem = problemOf(error, requestId);
  const headers: Record<string, string> = {
    'Content-Type': 'application/problem+json; charset=utf-8',
    'Cache-Control': 'no-store',
    ...OWN_HEADERS,
  };
  if (problem.status === 401) headers['WWW-Authenticate'] = 'Bearer';
  if (problem.status === 405) headers.Allow = String(error.fields.allow);
  if (problem.status === 416) headers['Content-Range'] = String(error.fields.contentRange);
  if (problem.status === 429 || problem.status === 503) {
    headers['Retry-After'] = String(error.fields.retryAfterS ?? RETRY_AFTER_S);
  }
  // Close the connection, so that the client does not send more requests while docshelf stops.
  if (error.code === 'stopping') headers.Connection = 'close';
  return new Response(`${JSON.stringify(problem)}\n`, { status: problem.status, headers });
}

export interface FaultHooks {
  /** True if the callers of the listener are not operators. Default: false. */
  readonly isPublic?: boolean;
  readonly metrics: { onError(code: ErrorCode): void };
  onError?(error: DocshelfError, requestId: string | null): void;
}

export function answerFault(cause: unknown, request: Request, requestId: string | null, hooks: FaultHooks): Response {
  const error = request.signal.aborted ? clientLeft('respond') : toDocshelfError(cause);
  hooks.metrics.onError(error.code);
  if (statusOf(error.code) >= 500) hooks.onError?.(error, requestId);
  const isHidden =
    hooks.isPublic === true && error.code === 'database_unavailable' && error.fields.isForCallers !== true;
  return problemResponse(isHidden ? DATABASE_AWAY : error, requestId);
}

/** Reports a canceled request as an error of the client, so that the request does not count as an error of docshelf. */
export function clientLeft(act: string): DocshelfError {
  return new DocshelfError('bad_request', `Cannot ${act}: the client disconnected before the response`);
}
