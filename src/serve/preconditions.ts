import { parseHttpDate } from './http-date.ts';
import type { SiteRequest } from './request.ts';

export interface Validators {
  /** Strong, quotes included. */
  readonly etag: string;
  /** Milliseconds since 1970, whole seconds. */
  readonly lastModifiedMs: number;
}

type ConditionOutcome = 'proceed' | 'not-modified' | 'failed';

/** Entity tags of a list; a comma may stand inside one. None where anything else stands between them. */
function tagsOf(list: string): readonly string[] {
  const tags: string[] = [];
  const rest = list.replace(/(?:W\/)?"[^"]*"/g, (tag) => {
    tags.push(tag);
    return '';
  });
  return /^[\s,]*$/.test(rest) ? tags : [];
}

const opaque = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);

/** `If-None-Match` compares weakly. */
export function matchesWeakly(list: string, etag: string): boolean {
  return list === etag || list.trim() === '*' || tagsOf(list).some((tag) => opaque(tag) === etag);
}

function matchesStrongly(list: string, etag: string): boolean {
  return list.trim() === '*' || tagsOf(list).includes(etag);
}

/**
 * Evaluates preconditions in the order of RFC 9110, section 13.2.2. No date says that content is unchanged: that of a release
 * is the same before and after a correction, and older after a rollback.
 */
export function evaluatePreconditions(request: SiteRequest, { etag, lastModifiedMs }: Validators): ConditionOutcome {
  const ifMatch = request.header('if-match');
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, etag)) return 'failed';
  } else {
    const unmodifiedSinceMs = parseHttpDate(request.header('if-unmodified-since'));
    if (unmodifiedSinceMs !== null && lastModifiedMs > unmodifiedSinceMs) return 'failed';
  }
  const ifNoneMatch = request.header('if-none-match');
  return ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag) ? 'not-modified' : 'proceed';
}

/** True without `If-Range`, or where it is the entity tag of exactly this content (RFC 9110, section 13.1.5). */
export function rangeHolds(ifRange: string | undefined, { etag }: Validators): boolean {
  return ifRange === undefined || ifRange === etag;
}
