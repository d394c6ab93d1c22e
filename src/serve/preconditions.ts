import type { SiteRequest } from './request.ts';

export interface Validators {
  /** Strong, quotes included. */
  readonly etag: string;
  /** Milliseconds since 1970, whole seconds. */
  readonly lastModifiedMs: number;
}

type ConditionOutcome = 'proceed' | 'not-modified' | 'failed';

/** Entity tags of a list; a comma may stand inside one. */
function tagsOf(list: string): readonly string[] {
  return list.match(/(?:W\/)?"[^"]*"/g) ?? [];
}

const opaque = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);

/** `If-None-Match` compares weakly. */
function matchesWeakly(list: string, etag: string): boolean {
  return list === etag || list.trim() === '*' || tagsOf(list).some((tag) => opaque(tag) === etag);
}

function matchesStrongly(list: string, etag: string): boolean {
  return list.trim() === '*' || tagsOf(list).includes(etag);
}

/**
 * Evaluates preconditions in the order of RFC 9110, section 13.2.2. `If-Modified-Since` must be the exact date that was
 * sent: after a rollback the content is older than the client's, and different. Unreadable dates are ignored.
 */
export function evaluatePreconditions(request: SiteRequest, { etag, lastModifiedMs }: Validators): ConditionOutcome {
  const ifMatch = request.header('if-match');
  if (ifMatch !== undefined) {
    if (!matchesStrongly(ifMatch, etag)) return 'failed';
  } else {
    const unmodifiedSince = request.header('if-unmodified-since');
    if (unmodifiedSince !== undefined && lastModifiedMs > Date.parse(unmodifiedSince)) return 'failed';
  }
  const ifNoneMatch = request.header('if-none-match');
  if (ifNoneMatch !== undefined) return matchesWeakly(ifNoneMatch, etag) ? 'not-modified' : 'proceed';
  const modifiedSince = request.header('if-modified-since');
  return modifiedSince !== undefined && Date.parse(modifiedSince) === lastModifiedMs ? 'not-modified' : 'proceed';
}

/** True without `If-Range`, or where it names exactly this content (RFC 9110, section 13.1.5: strong comparison, equal date). */
export function rangeHolds(ifRange: string | undefined, { etag, lastModifiedMs }: Validators): boolean {
  if (ifRange === undefined) return true;
  return ifRange.includes('"') ? ifRange.trim() === etag : Date.parse(ifRange) === lastModifiedMs;
}
