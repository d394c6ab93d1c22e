import type { SiteRequest } from './request.ts';

export interface Validators {
  readonly etag: string;
  /** `Last-Modified` in milliseconds since 1970, rounded to whole seconds. */
  readonly lastModifiedMs: number;
}

type ConditionOutcome = 'proceed' | 'not-modified' | 'failed';

/** Parses a list of entity tags, which may contain commas. Empty if the list is invalid. */
function tagsOf(list: string): readonly string[] {
  const tags: string[] = [];
  const rest = list.replace(/(?:W\/)?"[^"]*"/g, (tag) => {
    tags.push(tag);
    return '';
  });
  return /^[\s,]*$/.test(rest) ? tags : [];
}

const opaque = (tag: string): string => (tag.startsWith('W/') ? tag.slice(2) : tag);

export function matchesWeakly(list: string, etag: string): boolean {
  return list === etag || list.trim() === '*' || tagsOf(list).some((tag) => opaque(tag) === etag);
}

/**
 * Evaluates conditions (RFC 9110, 13.2.2). Ignores `If-Modified-Since`, because after a rollback, the current content can have an
 * earlier date.
 */
export function evaluatePreconditions(request: SiteRequest, { etag, lastModifiedMs }: Validators): ConditionOutcome {
  const ifMatch = request.header('if-match');
  if (ifMatch !== undefined) {
    if (ifMatch.trim() !== '*' && !tagsOf(ifMatch).includes(etag)) return 'failed';
  } else {
    const unmodifiedSinceMs = parseHttpDate(request.header('if-unmodified-since'));
    if (unmodifiedSinceMs !== null && lastModifiedMs > unmodifiedSinceMs) return 'failed';
  }
  const ifNoneMatch = request.header('if-none-match');
  return ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag) ? 'not-modified' : 'proceed';
}

export interface ByteRange {
  readonly start: number;
  readonly length: number;
}

const SINGLE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i;

/**
 * Range of a GET request (RFC 9110, section 14.2). Null for the whole file: without `Range`, with another entity tag in `If-Range`, and
 * for several ranges, other units than bytes, and invalid text.
 */
export function requestedRange(
  { method, header }: SiteRequest,
  { etag }: Validators,
  size: number,
): ByteRange | 'unsatisfiable' | null {
  const written = method === 'GET' ? header('range') : undefined;
  const match = SINGLE_RANGE.exec(written ?? '');
  if (match === null || (header('if-range') ?? etag) !== etag) return null;
  const [, first, last, suffix] = match;
  if (suffix !== undefined) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? 'unsatisfiable' : { start: size - length, length };
  }
  const start = Number(first);
  const end = last === undefined || last === '' ? size - 1 : Number(last);
  if (last !== '' && end < start) return null;
  if (start >= size) return 'unsatisfiable';
  return { start, length: Math.min(end, size - 1) - start + 1 };
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MONTH = `(?<month>${MONTHS.join('|')})`;
const TIME = '(?<hour>[01]\\d|2[0-3]):(?<minute>[0-5]\\d):(?<second>[0-5]\\d|60)';

/** Date formats of RFC 9110, section 5.6.7: the preferred format, and two obsolete formats that a recipient must accept. */
const FORMS = [
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (?<day>\\d{2}) ${MONTH} (?<year>\\d{4}) ${TIME} GMT$`),
  new RegExp(`^(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day, (?<day>\\d{2})-${MONTH}-(?<year>\\d{2}) ${TIME} GMT$`),
  new RegExp(`^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) ${MONTH} (?<day>[ \\d]\\d) ${TIME} (?<year>\\d{4})$`),
];

/** Parses an HTTP date to milliseconds since 1970. Null for other text, also if `Date.parse` would accept that text. */
function parseHttpDate(text: string | undefined): number | null {
  if (text === undefined) return null;
  const parts = FORMS.map((form) => form.exec(text)?.groups).find((groups) => groups !== undefined);
  if (parts === undefined) return null;
  const { year = '', month = '', day, hour, minute, second } = parts;
  const date = new Date(0);
  date.setUTCFullYear(year.length === 2 ? wholeYear(Number(year)) : Number(year), MONTHS.indexOf(month), Number(day));
  if (date.getUTCDate() !== Number(day)) return null;
  return date.setUTCHours(Number(hour), Number(minute), Number(second));
}

/** Completes a year of two digits. A year more than 50 years ahead belongs to the last century (RFC 9110, section 5.6.7). */
function wholeYear(digits: number): number {
  const now = new Date().getUTCFullYear();
  const year = now - (now % 100) + digits;
  return year > now + 50 ? year - 100 : year;
}
