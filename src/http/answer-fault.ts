import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import type { Metrics } from './metrics/metrics.ts';
import { problemResponse, statusOf } from './problem.ts';

export interface FaultHooks {
  readonly metrics: Pick<Metrics, 'onError'>;
  /** A fault of ours (status 500 and above) was answered; its message may not have been. */
  onError?(error: DocshelfError, requestId: string | null): void;
}

/** Answers a fault as a problem document, and tells of it. */
export function answerFault(cause: unknown, request: Request, requestId: string | null, hooks: FaultHooks): Response {
  const error = request.signal.aborted ? clientLeft() : toDocshelfError(cause);
  hooks.metrics.onError(error.code);
  if (statusOf(error.code) >= 500) hooks.onError?.(error, requestId);
  return problemResponse(error, requestId);
}

/** Nobody reads this answer: it is for the metrics, where work that was given up with its client is no fault of ours. */
function clientLeft(): DocshelfError {
  return new DocshelfError('bad_request', 'Cannot answer: the client left before the answer');
}
