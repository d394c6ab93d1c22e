import type { Finding } from '../domain/job.ts';

/** A report lists fewer. */
const WAITING_MAX = 5_000;
const TOLD_MAX = 100_000;

/** Each address once. Findings wait for the names of their pages' files until the crawl is over. */
export class CrawlFindings {
  readonly #find: (finding: Finding) => void;
  readonly #waiting: Finding[] = [];
  readonly #told = new Set<string>();

  constructor(find: (finding: Finding) => void) {
    this.#find = find;
  }

  add(kind: 'left_out' | 'not_fetched' | 'too_many_redirects', url: string, referrer: string, why: string): void {
    const key = `${kind} ${url}`;
    if (this.#told.has(key)) return;
    if (this.#told.size < TOLD_MAX) this.#told.add(key);
    this.tell({ kind, page: referrer, detail: `${shown(url)}: ${why}` });
  }

  tell(finding: Finding): void {
    if (this.#waiting.length < WAITING_MAX) this.#waiting.push(finding);
    else this.#find({ ...finding, page: pathOf(finding.page) });
  }

  flush(paths: ReadonlyMap<string, string>): void {
    for (const finding of this.#waiting.splice(0)) {
      this.#find({ ...finding, page: paths.get(finding.page) ?? pathOf(finding.page) });
    }
  }
}

function pathOf(url: string): string {
  return URL.parse(url)?.pathname.slice(1) ?? '';
}

function shown(url: string): string {
  return url.length > 300 ? `${url.slice(0, 297)}...` : url;
}
