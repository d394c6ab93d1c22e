import { DocshelfError } from '../domain/errors.ts';
import { showName } from '../domain/show-name.ts';
import { ARCHIVE_RULES, type ArchiveCode } from './rules.ts';

export interface Refusal {
  /** The entry's name, as far as it is known; it may hold anything. */
  readonly entry?: string;
  /** In place of the rule's own advice. */
  readonly next?: string;
  readonly cause?: unknown;
}

/**
 * Makes the error that refuses an archive. `state` goes on after the entry (`leaves the site`) or, without one, after
 * the archive (`it is cut off`).
 */
export type Refuse = (code: ArchiveCode, state: string, refusal?: Refusal) => DocshelfError;

/** The refusals of one archive, which errors call `archiveName`. */
export function refusalsOf(archiveName: string): Refuse {
  return (code, state, refusal = {}) => {
    const { rule, next } = ARCHIVE_RULES[code];
    const entry = refusal.entry === undefined ? undefined : showName(refusal.entry);
    const subject = entry === undefined ? '' : `entry "${entry}" `;
    return new DocshelfError(code, `Cannot unpack "${showName(archiveName)}": ${subject}${state}`, {
      next: refusal.next ?? next,
      fields: { ...(entry === undefined ? {} : { entry }), rule },
      cause: refusal.cause,
    });
  };
}
