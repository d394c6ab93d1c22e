import { isPage } from '../../domain/release.ts';
import { percentDecode } from '../percent-decode.ts';
import type { PageReferences } from '../references.ts';

/** Segments of the deepest base path that is recognised. */
const DEPTH_MAX = 4;
/** Distinct addresses that are looked up; the pages of a site share most. */
const ADDRESSES_MAX = 20_000;

type FileTable = { has(path: string): boolean };

/** Votes, page by page, on the base path that a site was built for: the folder that its root-relative references lie below. */
export class BasePathVotes {
  readonly #files: FileTable;
  readonly #votes = new Map<string, number>();
  readonly #seen = new Set<string>();

  /** @param files the site's paths, without a leading slash. */
  constructor(files: FileTable) {
    this.#files = files;
  }

  addReferences({ references }: PageReferences): void {
    for (const { url } of references) {
      if (!url.startsWith('/') || url.startsWith('//')) continue;
      const path = percentDecode(url.replace(/[?#].*$/s, ''))?.slice(1);
      if (path === undefined || this.#seen.has(path) || this.#seen.size >= ADDRESSES_MAX) continue;
      this.#seen.add(path);
      const base = this.#baseOf(path);
      if (base !== null) this.#votes.set(base, (this.#votes.get(base) ?? 0) + 1);
    }
  }

  /** With its last slash; `/` where nothing says otherwise. */
  decide(): string {
    let [best, most] = ['/', this.#votes.get('/') ?? 0];
    for (const [base, votes] of this.#votes) if (votes > most) [best, most] = [base, votes];
    return best;
  }

  /** The shortest folder below which the address is a file of the site; null where it is none. */
  #baseOf(path: string): string | null {
    let base = '/';
    let rest = path;
    for (let depth = 0; depth <= DEPTH_MAX; depth++) {
      // The root's own page fits below every folder.
      if ((rest !== '' || depth === 0) && answers(this.#files, rest)) return base;
      const slash = rest.indexOf('/');
      if (slash <= 0) return null;
      base += rest.slice(0, slash + 1);
      if (!/^[\w./~-]+$/.test(base)) return null;
      rest = rest.slice(slash + 1);
    }
    return null;
  }
}

/** True where a path, decoded and without leading slash, is a file or a page of the site. */
export function answers(files: FileTable, path: string): boolean {
  if (path === '' || path.endsWith('/')) return files.has(`${path}index.html`);
  return files.has(path) || (!isPage(path) && (files.has(`${path}.html`) || files.has(`${path}/index.html`)));
}
