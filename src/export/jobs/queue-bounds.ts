import { DocshelfError } from '../../domain/errors.ts';

/** Characters. Every reader of a job gets it: anything larger lies in a file that the checkpoint names. */
const CHECKPOINT_LENGTH_MAX = 64 * 1024;

export function checkCheckpoint(checkpoint: string | null): void {
  if (checkpoint === null || checkpoint.length <= CHECKPOINT_LENGTH_MAX) return;
  throw new RangeError(`a checkpoint of ${checkpoint.length} characters, over ${CHECKPOINT_LENGTH_MAX}`);
}

export function queueFull(domain: string, queuedMax: number): DocshelfError {
  const message = `Cannot queue an export of "${domain}": ${queuedMax} jobs of its organization wait`;
  const next = 'Wait until one of them has begun, or cancel one.';
  return new DocshelfError('queue_full', message, { next, fields: { queuedMax } });
}
