import { plainPath } from '../extract/duplicates.ts';
import { SECONDARY_PRIOR } from '../keyword/ranking.ts';

/** Paths of change logs and lists. These pages contain the words of all other pages, so they rank lower. */
const SECONDARY_PATH =
  /(?:^|\/)(?:change-?logs?|changes|release-?notes?|what-?s-?new|release-\d[^/]*|glossary|genindex|(?:py-)?modindex|bookindex|index-all|all(?:classes|packages)(?:-index)?|(?:tags?|categor(?:y|ies))(?=\/.))(?:\.x?html?)?(?:\/|$)|^\/(?:news|history|releases?)(?:\.x?html?)?(?:\/|$)/i;
const SECONDARY_TITLE = /^(?:change ?log|changes|release notes|what[’']s new|glossary|index)\b/i;

export function isSecondary(url: string, title: string): boolean {
  return SECONDARY_PATH.test(url) || (SECONDARY_TITLE.test(title) && !/^index\b./i.test(title));
}

/**
 * Importance from 0 to 1: logarithm of the number of links from other pages, relative to the page with most links. -1 for change
 * logs and lists.
 */
export class PagePriors {
  /** Number of links to the address of each page. */
  readonly #links: Map<string, number>;
  readonly #pages = new Map<string, { readonly page: string; readonly ownLinks: number }>();
  readonly #secondary = new Set<string>();

  constructor(pages: readonly string[]) {
    this.#links = new Map(pages.map((page) => [plainAddress(page), 0]));
  }

  add(page: string, links: readonly string[], isOfSecondary = false): void {
    const own = plainAddress(page);
    let ownLinks = 0;
    for (const link of links) {
      const address = plainAddress(link);
      const count = this.#links.get(address);
      if (count !== undefined) this.#links.set(address, count + 1);
      if (address === own) ownLinks += 1;
    }
    this.#pages.set(own, { page, ownLinks });
    if (isOfSecondary) this.#secondary.add(page);
  }

  decide(): Map<string, number> {
    const links = new Map<string, number>();
    for (const [address, { page, ownLinks }] of this.#pages) {
      const count = (this.#links.get(address) ?? 0) - ownLinks;
      if (count > 0) links.set(page, count);
    }
    let most = 1;
    for (const count of links.values()) most = Math.max(most, count);
    const priors = new Map([...links].map(([page, count]) => [page, Math.log1p(count) / Math.log1p(most)]));
    for (const page of this.#secondary) priors.set(page, SECONDARY_PRIOR);
    return priors;
  }
}

/** Returns the same text for all spellings of an address. */
function plainAddress(address: string): string {
  return plainPath(address.replace(/[#?].*$/, ''));
}
