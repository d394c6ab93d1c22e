import type { CrawlLimits, CrawlSettings } from '../domain/crawl.ts';
import type { Finding } from '../domain/job.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import { counted } from '../domain/text.ts';
import { type AskedAs, namesPage } from './entry.ts';
import type { Scope } from './scope.ts';

export interface Naming {
  readonly askedAs: AskedAs;
  readonly referrer: string;
  readonly depth: number;
  readonly redirects?: number;
  readonly isOptional?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
}

export type CrawlSize = { readonly entries: number; readonly pages: number; readonly bytes: number };

export interface AdmissionOptions {
  readonly settings: CrawlSettings;
  readonly archiveLimits: ArchiveLimits;
  readonly scope: Scope;
  readonly findings: CrawlFindings;
  readonly followsLinks: boolean;
}

/** Maximum share of an archive's entries for crawled files. The other entries are for redirects, search data and the manifest. */
const ENTRIES_SHARE = 0.9;

export class Admission {
  readonly #options: AdmissionOptions;
  readonly #traps: Traps;
  /** Rules of the site in robots.txt. Null if docshelf has not read robots.txt yet, or if the source ignores robots.txt. */
  robots: Robots | null = null;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#traps = new Traps(options.settings.limits);
  }

  admits(url: string, naming: Naming, size: CrawlSize): boolean {
    const { scope, followsLinks } = this.#options;
    const parsed = new URL(url);
    const isLink = namesPage(naming.askedAs);
    if (isLink && (!scope.isOwn(parsed) || !scope.holdsPage(parsed))) return false;
    if (isLink && !followsLinks && naming.depth > 0) return false;
    const why = this.#reasonAgainst(parsed, isLink, naming.depth, size);
    if (why !== null) this.leaveOut(url, naming, why);
    return why === null;
  }

  reasonAgainstPage({ pages }: CrawlSize): string | null {
    const { pagesMax } = this.#options.settings.limits;
    return pages < pagesMax ? null : `the export has ${counted(pagesMax, 'page')}, which is its limit`;
  }

  leaveOut(url: string, { referrer, isOptional }: Pick<Naming, 'referrer' | 'isOptional'>, why: string): void {
    if (isOptional !== true) this.#options.findings.add('left_out', url, referrer, why);
  }

  #reasonAgainst(url: URL, isLink: boolean, depth: number, size: CrawlSize): string | null {
    const { scope, settings, archiveLimits } = this.#options;
    const { depthMax } = settings.limits;
    if (scope.isOwn(url) && this.robots?.allows(url) === false) return 'robots.txt disallows it';
    if (depth > depthMax) return `it is more than ${counted(depthMax, 'link')} away from the start page`;
    const full = isLink ? this.reasonAgainstPage(size) : null;
    if (full !== null) return full;
    if (size.entries >= archiveLimits.entriesMax * ENTRIES_SHARE) return 'the export has too many files';
    if (size.bytes >= archiveLimits.totalBytesMax) return 'the export has too many bytes';
    return this.#traps.judge(url, isLink);
  }
}

const URL_CHARS_MAX = 2_000;
const SEGMENTS_MAX = 40;
const REPEATS_MAX = 4;
const DATES_MAX = 400;
const ASSET_VARIANTS_MAX = 5_000;

const DATE = /(?:^|[/=_-])(?:19|20|21)\d\d[/-](?:0?[1-9]|1[0-2])(?:[/-](?:0?[1-9]|[12]\d|3[01]))?(?=\/?$|[&?])/;

/** Finds addresses that a site generates endlessly. Call `judge` only once for each address, because `judge` counts addresses. */
export class Traps {
  readonly #limits: Pick<CrawlLimits, 'queryVariantsMax'>;
  readonly #variants = new Map<string, number>();
  readonly #dates = new Map<string, number>();

  constructor(limits: Pick<CrawlLimits, 'queryVariantsMax'>) {
    this.#limits = limits;
  }

  judge(url: URL, isPage: boolean): string | null {
    const { href, pathname, search } = url;
    if (href.length > URL_CHARS_MAX) return `its address is longer than ${URL_CHARS_MAX} characters`;
    const segments = pathname.split('/').slice(1);
    if (segments.length > SEGMENTS_MAX) return `its path is deeper than ${SEGMENTS_MAX} folders`;
    if (mostRepeated(segments) >= REPEATS_MAX) return 'its path repeats the same folders';
    if (search !== '') {
      const max = isPage ? this.#limits.queryVariantsMax : ASSET_VARIANTS_MAX;
      const key = `${isPage ? 'page' : 'asset'} ${url.origin}${pathname}`;
      if (countUp(this.#variants, key) > max) return `more than ${max} addresses differ only in their query`;
    }
    const date = isPage ? DATE.exec(pathname + search) : null;
    if (date !== null && countUp(this.#dates, url.origin + (pathname + search).slice(0, date.index)) > DATES_MAX)
      return `more than ${DATES_MAX} addresses differ only in a date`;
    return null;
  }
}

function mostRepeated(segments: readonly string[]): number {
  const equal = Map.groupBy(segments, (segment) => segment);
  equal.delete('');
  return Math.max(0, ...equal.values().map(({ length }) => length));
}

function countUp(counts: Map<string, number>, key: string): number {
  const count = (counts.get(key) ?? 0) + 1;
  counts.set(key, count);
  return count;
}

/** Maximum bytes of robots.txt. RFC 9309, section 2.5 requires at least 500 KiB. */
const ROBOTS_BYTES_MAX = 512 * 1024;

interface Rule {
  readonly isAllowed: boolean;
  readonly path: string;
  readonly parts: readonly string[];
  readonly isWhole: boolean;
}

const OWN_AGENT = 'docshelf';

/** Rules of a robots.txt. robots-parser 3.0.1 treats `/%7Eme` and `/~me` as different paths, against RFC 9309, section 2.2.2. */
export class Robots {
  readonly sitemaps: readonly string[];
  readonly #rules: readonly Rule[];

  constructor(text: string) {
    const sitemaps: string[] = [];
    const rulesByAgent = new Map<string, Rule[]>();
    let agents: string[] = [];
    let isNaming = false;
    for (const line of text.slice(0, ROBOTS_BYTES_MAX).split(/\r\n?|\n/)) {
      const [, word = '', value = ''] = /^\s*([A-Za-z-]+)\s*:\s*(.*?)\s*(?:#.*)?$/.exec(line) ?? [];
      const key = word.toLowerCase();
      if (key === 'sitemap' && value !== '') sitemaps.push(value);
      else if (key === 'user-agent') {
        if (!isNaming) agents = [];
        isNaming = true;
        agents.push(value.toLowerCase());
        for (const agent of agents) if (!rulesByAgent.has(agent)) rulesByAgent.set(agent, []);
      } else if (key === 'allow' || key === 'disallow') {
        isNaming = false;
        if (value === '') continue;
        const rule = ruleOf(value, key === 'allow');
        for (const agent of agents) rulesByAgent.get(agent)?.push(rule);
      }
    }
    const rules = rulesByAgent.get(OWN_AGENT) ?? rulesByAgent.get('*') ?? [];
    // Sort the rules of robots.txt, so that the longest matching rule comes first, and of equally long rules an `Allow` rule (RFC
    // 9309, section 2.2.2).
    this.#rules = rules.sort((a, b) => b.path.length - a.path.length || Number(b.isAllowed) - Number(a.isAllowed));
    this.sitemaps = sitemaps;
  }

  allows({ pathname, search }: URL): boolean {
    const path = normalized(pathname + search);
    return this.#rules.find((rule) => fits(rule, path))?.isAllowed ?? true;
  }
}

function ruleOf(path: string, isAllowed: boolean): Rule {
  const isWhole = path.endsWith('$');
  return { isAllowed, path, isWhole, parts: normalized(isWhole ? path.slice(0, -1) : path).split('*') };
}

/** Matches a robots.txt rule with wildcards in linear time: searches each text between two wildcards only once, from the left. */
function fits({ parts, isWhole }: Rule, path: string): boolean {
  const [first = '', ...others] = parts;
  if (!path.startsWith(first)) return false;
  const last = isWhole ? others.pop() : undefined;
  let at = first.length;
  for (const part of others) {
    const found = path.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  if (!isWhole) return true;
  return last === undefined ? at === path.length : path.length - last.length >= at && path.endsWith(last);
}

/** Decodes percent-encodings of unreserved characters, and writes all other percent-encodings in upper case. */
function normalized(path: string): string {
  return path.replace(/%[0-9a-f]{2}/gi, (text) => {
    const character = String.fromCharCode(Number.parseInt(text.slice(1), 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : text.toUpperCase();
  });
}

const NO_FOLLOW = /(?:^|[\s,])(?:nofollow|none)(?:$|[\s,])/i;

export const hasNoFollow = (directives: string): boolean => NO_FOLLOW.test(directives);

const WAITING_MAX = 5_000;
const REPORTED_MAX = 100_000;

/** Keeps reported problems until the end of the crawl, because crawled pages get their file names only then. */
export class CrawlFindings {
  readonly #find: (finding: Finding) => void;
  readonly #waiting: Finding[] = [];
  readonly #reported = new Set<string>();

  constructor(find: (finding: Finding) => void) {
    this.#find = find;
  }

  add(kind: 'left_out' | 'not_fetched' | 'too_many_redirects', url: string, referrer: string, why: string): void {
    const key = `${kind} ${url}`;
    if (this.#reported.has(key)) return;
    if (this.#reported.size < REPORTED_MAX) this.#reported.add(key);
    this.report({ kind, page: referrer, detail: `${shown(url)}: ${why}` });
  }

  report(finding: Finding): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(finding);
    else this.#find({ ...finding, page: pathOf(finding.page) });
  }

  flush(paths: ReadonlyMap<string, string>): void {
    for (const finding of this.#waiting.splice(0))
      this.#find({ ...finding, page: paths.get(finding.page) ?? pathOf(finding.page) });
  }
}

const pathOf = (url: string): string => URL.parse(url)?.pathname.slice(1) ?? '';

const shown = (url: string): string => (url.length > 300 ? `${url.slice(0, 297)}...` : url);
