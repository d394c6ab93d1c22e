import { isPage } from '../../domain/release.ts';
import { OWN_SEARCH_KINDS, type OwnSearchKind } from './kinds.ts';

/** A search that the pages of a release bring. */
export interface OwnSearch {
  readonly kind: string;
  /** `hosted`: a service elsewhere answers it. `no-index`: the bundle lacks what it reads. */
  readonly state: 'works' | 'hosted' | 'no-index';
  /** The service that it asks, or the file that it reads. */
  readonly needs: string;
  /** A list of CSS selectors. */
  readonly boxes: string;
  /** Markup for the head of pages where its boxes are replaced. */
  readonly head: string;
}

/** Pages that are read: boxes stand in headers, which are those of all pages. */
const PAGES_READ = 5;
/** Names of all scripts and indexes of the table: most files of a site are no more than looked at. */
const NAMED_FOR_SEARCH = /search|pagefind|lunr|nextra/i;

/** Finds the searches of a site by its files, told one by one, and by some of its pages. */
export class OwnSearchSurvey {
  readonly #step: number;
  readonly #pages = new Set<string>();
  readonly #found = new Set<RegExp>();
  #count = 0;

  /** @param pages of the site */
  constructor(pages: number) {
    this.#step = Math.max(1, Math.ceil(pages / PAGES_READ));
  }

  add(path: string): void {
    if (isPage(path)) {
      if (path === 'index.html' || this.#count % this.#step === 0) this.#pages.add(path);
      this.#count += 1;
    } else if (NAMED_FOR_SEARCH.test(path)) {
      for (const { script, index } of OWN_SEARCH_KINDS)
        for (const name of [script, index?.file]) if (name?.test(path)) this.#found.add(name);
    }
  }

  /** To be read, once all files are known. */
  get pages(): readonly string[] {
    return [...this.#pages];
  }

  /** @param texts of those pages, or of their beginnings */
  judge(texts: Iterable<string>): OwnSearch[] {
    const boxes = new Map<OwnSearchKind, Set<string>>();
    for (const text of texts) {
      const kind = OWN_SEARCH_KINDS.find((each) => this.#fits(each, text));
      if (kind === undefined) continue;
      const known = boxes.get(kind) ?? new Set([kind.boxes]);
      const named = kind.named?.exec(text)?.[1];
      boxes.set(kind, named === undefined ? known : known.add(named));
    }
    return Array.from(boxes, ([{ name, index, service, head = '' }, selectors]) => ({
      kind: name,
      state: index === null ? 'hosted' : this.#found.has(index.file) ? 'works' : 'no-index',
      needs: index?.name ?? service ?? '',
      boxes: [...selectors].join(),
      head,
    }));
  }

  #fits({ mark, unless, script }: OwnSearchKind, text: string): boolean {
    return mark.test(text) && unless?.test(text) !== true && (script === undefined || this.#found.has(script));
  }
}

/** Those that find nothing, as they are here. */
export function failing(searches: readonly OwnSearch[]): OwnSearch[] {
  return searches.filter(({ state }) => state !== 'works');
}
