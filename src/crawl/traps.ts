import type { CrawlLimits } from '../domain/crawl.ts';

/** Characters of an address: what servers and proxies commonly take. */
const URL_CHARS_MAX = 2_000;
/** Segments of a path: an archive may have 64. */
const SEGMENTS_MAX = 40;
/** A segment that comes so often leads in a circle: `/a/b/a/b/a/b/a/b`. */
const REPEATS_MAX = 4;
/** Dates at the end of addresses that differ in nothing else: a little more than a year's days. */
const DATES_MAX = 400;
/** Addresses of assets that differ in their query alone: pictures by size. */
const ASSET_VARIANTS_MAX = 5_000;

/** A date that ends a path or stands in a query: `/2031/05`, `/2031-05-12/`, `?month=2031-05`. */
const DATE = /(?:^|[/=_-])(?:19|20|21)\d\d[/-](?:0?[1-9]|1[0-2])(?:[/-](?:0?[1-9]|[12]\d|3[01]))?(?=\/?$|[&?])/;

/** Recognises addresses that a site makes up without end. It counts: each address is judged once. */
export class Traps {
  readonly #limits: Pick<CrawlLimits, 'queryVariantsMax'>;
  readonly #variants = new Map<string, number>();
  readonly #dates = new Map<string, number>();

  constructor(limits: Pick<CrawlLimits, 'queryVariantsMax'>) {
    this.#limits = limits;
  }

  /** Why an address is left out; null where it is not. */
  judge(url: URL, isPage: boolean): string | null {
    const { href, pathname, search } = url;
    if (href.length > URL_CHARS_MAX) return `its address is longer than ${URL_CHARS_MAX} characters`;
    const segments = pathname.split('/').slice(1);
    if (segments.length > SEGMENTS_MAX) return `its path is deeper than ${SEGMENTS_MAX} folders`;
    if (mostRepeated(segments) >= REPEATS_MAX) return 'its path repeats itself';
    if (search !== '') {
      const max = isPage ? this.#limits.queryVariantsMax : ASSET_VARIANTS_MAX;
      const key = `${isPage ? 'page' : 'asset'} ${url.origin}${pathname}`;
      if (countUp(this.#variants, key) > max) return `over ${max} addresses differ in their query alone`;
    }
    const date = isPage ? DATE.exec(pathname + search) : null;
    if (date !== null && countUp(this.#dates, url.origin + (pathname + search).slice(0, date.index)) > DATES_MAX) {
      return `over ${DATES_MAX} addresses differ in a date alone`;
    }
    return null;
  }
}

function mostRepeated(segments: readonly string[]): number {
  if (segments.length < REPEATS_MAX) return 0;
  const counts = new Map<string, number>();
  let most = 0;
  for (const segment of segments) if (segment !== '') most = Math.max(most, countUp(counts, segment));
  return most;
}

function countUp(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}
