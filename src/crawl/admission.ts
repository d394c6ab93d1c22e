import type { CrawlSettings } from '../domain/crawl.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import { type AskedAs, namesPage } from './ask/answer-type.ts';
import type { CrawlFindings } from './crawl-findings.ts';
import type { Robots } from './robots.ts';
import type { Scope } from './scope.ts';
import { Traps } from './traps.ts';

/** What is named by whom, and how far from the start. */
export interface Naming {
  readonly askedAs: AskedAs;
  readonly referrer: string;
  readonly depth: number;
  readonly redirects?: number;
  readonly isOptional?: boolean;
  /** What is said beside the address; see `Entry`. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What the crawl has by now. */
export interface CrawlSize {
  readonly entries: number;
  readonly pages: number;
  readonly bytes: number;
}

export interface AdmissionOptions {
  readonly settings: CrawlSettings;
  readonly archiveLimits: ArchiveLimits;
  readonly scope: Scope;
  readonly findings: CrawlFindings;
  /** Whether links to pages are followed: not where the request names its pages. */
  readonly followsLinks: boolean;
}

/** Less than an archive may have: redirects, search data and the manifest come on top. */
const ENTRIES_SHARE = 0.9;

/** Decides which addresses a crawl takes on. */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #traps: Traps;
  #robots: Robots | null = null;

  constructor(options: AdmissionOptions) {
    this.#options = options;
    this.#traps = new Traps(options.settings.limits);
  }

  useRobots(robots: Robots): void {
    this.#robots = robots;
  }

  /** Each address is judged once. What is left out is told of, unless it belongs to another site. */
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

  /** What holds against one more page; null where nothing does. */
  reasonAgainstPage({ pages }: CrawlSize): string | null {
    const { pagesMax } = this.#options.settings.limits;
    return pages < pagesMax ? null : `the export has ${pagesMax} pages, which is its limit`;
  }

  leaveOut(url: string, { referrer, isOptional }: Pick<Naming, 'referrer' | 'isOptional'>, why: string): void {
    if (isOptional !== true) this.#options.findings.add('left_out', url, referrer, why);
  }

  #reasonAgainst(url: URL, isLink: boolean, depth: number, size: CrawlSize): string | null {
    const { scope, settings, archiveLimits } = this.#options;
    const { depthMax } = settings.limits;
    if (scope.isOwn(url) && this.#robots?.allows(url) === false) return 'robots.txt disallows it';
    if (depth > depthMax) return `it is more than ${depthMax} links away from the start`;
    const full = isLink ? this.reasonAgainstPage(size) : null;
    if (full !== null) return full;
    if (size.entries >= archiveLimits.entriesMax * ENTRIES_SHARE) return 'the export has too many files';
    if (size.bytes >= archiveLimits.totalBytesMax) return 'the export has too many bytes';
    return this.#traps.judge(url, isLink);
  }
}
