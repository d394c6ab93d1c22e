import { LineSpool } from '../../files/index.ts';
import type { PageOutline, Reference } from '../../web/index.ts';

/** A page or a style sheet whose references are to be followed. */
export interface CheckedPage {
  readonly path: string;
  readonly base: string | null;
  /** In the order of the page; pictures of `srcset` after all others, and what styles load at the end. */
  readonly references: readonly Reference[];
}

/**
 * The pages of a site between reading them and following their references, which wait in a spool: those of 20,000 pages with
 * 100 each took 120 MB. In memory are the anchors, a page's in one string, one a line between line breaks.
 */
export class CheckedPages {
  readonly #spool: LineSpool;
  readonly #anchors = new Map<string, string>();

  /** @param spoolFile where nothing is yet; it has no name from then on */
  constructor(spoolFile: string) {
    this.#spool = new LineSpool(spoolFile);
  }

  /** @param styles what its styles load */
  add(path: string, { base, references, pictures, anchors }: PageOutline, styles: readonly Reference[]): void {
    this.#keep({ path, base, references: [...references, ...pictures, ...styles] });
    this.#anchors.set(path, `\n${[...anchors].join('\n')}\n`);
  }

  addStyleSheet(path: string, references: readonly Reference[]): void {
    if (references.length > 0) this.#keep({ path, base: null, references });
  }

  *all(): Generator<CheckedPage> {
    for (const line of this.#spool.lines()) yield JSON.parse(line) as CheckedPage;
  }

  /** Whether an element of the page has that name; null for what is no page. */
  hasAnchor(path: string, name: string): boolean | null {
    return this.#anchors.get(path)?.includes(`\n${name}\n`) ?? null;
  }

  #keep(page: CheckedPage): void {
    this.#spool.add(JSON.stringify(page));
  }

  [Symbol.dispose](): void {
    this.#spool[Symbol.dispose]();
  }
}
