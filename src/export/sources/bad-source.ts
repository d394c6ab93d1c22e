import { showName } from '../../archive/refuse.ts';
import { DocshelfError } from '../../domain/errors.ts';

/** The fault of a source: `Cannot export "<path>": <state>`, and what an operator does about it. */
export function badSource(path: string, state: string, next: string, cause?: unknown): DocshelfError {
  return new DocshelfError('bad_source', `Cannot export "${showName(path)}": ${state}`, { next, cause });
}
