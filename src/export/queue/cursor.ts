import { DocshelfError } from '../../domain/errors.ts';

/** Comes after every `seq` that there is. */
const BEFORE_ALL = Number.MAX_SAFE_INTEGER;

/** Where a page of the list ends, for clients to hand back: base64url of the `seq` of its last job. */
export function cursorOf(seq: number): string {
  return Buffer.from(String(seq)).toString('base64url');
}

/**
 * The `seq` that the page after a cursor begins below.
 *
 * @throws DocshelfError `bad_request` where it is none that `cursorOf` gave
 */
export function seqOf(cursor: string | undefined): number {
  if (cursor === undefined) return BEFORE_ALL;
  const seq = Number(Buffer.from(cursor, 'base64url').toString());
  // Node skips what is no base64url: only a cursor that comes out the same again is one.
  if (Number.isSafeInteger(seq) && seq > 0 && cursorOf(seq) === cursor) return seq;
  throw new DocshelfError('bad_request', `Cannot list jobs from "${cursor.slice(0, 64)}": it is no cursor`, {
    next: 'Give the nextCursor of an earlier answer, unchanged, or none to begin with the newest job.',
    fields: { field: 'cursor' },
  });
}
