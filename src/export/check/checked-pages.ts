import type { PageOutline, Reference } from '../../web/index.ts';

/** A page whose references are to be followed. */
export interface CheckedPage {
  readonly path: string;
  readonly base: string | null;
  /** In the order of the page, pictures of `srcset` last. */
  readonly references: readonly Reference[];
}

/**
 * What is kept of a page, in two strings: one line a reference, and one line an anchor between line breaks. 20,000 pages of 100
 * references and anchors each take 120 MB so, and would take 1 GB as objects and sets.
 */
interface KeptPage {
  readonly base: string | null;
  readonly references: string;
  readonly anchors: string;
}

/** What the URL standard drops from a URL before anything else ("basic URL parser", step 3). */
const LINE_BREAKS = /[\t\n\r]/g;

/** The pages of a site between reading them and following their references. */
export class CheckedPages {
  readonly #pages = new Map<string, KeptPage>();

  get count(): number {
    return this.#pages.size;
  }

  add(path: string, { base, references, pictures, anchors }: PageOutline): void {
    const lines = [...references, ...pictures].map(
      ({ kind, tag, attribute, url }) => `${kind} ${tag} ${attribute} ${url.replace(LINE_BREAKS, '')}`,
    );
    this.#pages.set(path, { base, references: lines.join('\n'), anchors: `\n${[...anchors].join('\n')}\n` });
  }

  *all(): Generator<CheckedPage> {
    for (const [path, { base, references }] of this.#pages) {
      yield { path, base, references: references === '' ? [] : references.split('\n').map(readLine) };
    }
  }

  /** Whether an element of the page has that name; null for what is no page. */
  hasAnchor(path: string, name: string): boolean | null {
    const page = this.#pages.get(path);
    return page === undefined ? null : page.anchors.includes(`\n${name}\n`);
  }
}

function readLine(line: string): Reference {
  const [kind = '', tag = '', attribute = ''] = line.split(' ', 3);
  const url = line.slice(kind.length + tag.length + attribute.length + 3);
  return { kind: kind as Reference['kind'], tag, attribute, url };
}
