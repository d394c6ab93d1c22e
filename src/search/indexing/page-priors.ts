import { FINGERPRINT_BYTES, Fingerprints, fingerprint, joined } from '../compact.ts';
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
  readonly #pages: readonly string[];
  readonly #addresses: Fingerprints;
  readonly #addressOf: Uint32Array;
  readonly #links: Uint32Array;
  readonly #ownLinks: Uint32Array;
  readonly #pageOf = new Map<number, string>();
  readonly #secondary = new Set<string>();

  constructor(pages: readonly string[]) {
    this.#pages = pages;
    this.#addresses = new Fingerprints(pages.length);
    this.#addressOf = Uint32Array.from(pages, (page) => this.#addresses.add(printOf(page)));
    this.#links = new Uint32Array(this.#addresses.count);
    this.#ownLinks = new Uint32Array(this.#addresses.count);
  }

  add(number: number, links: Uint8Array, isOfSecondary = false): void {
    const own = this.#addressOf[number] as number;
    if (isOfSecondary) this.#secondary.add(this.#pages[number] as string);
    this.#pageOf.set(own, this.#pages[number] as string);
    this.#ownLinks[own] = 0;
    for (let at = 0; at < links.length; at += FINGERPRINT_BYTES) {
      const address = this.#addresses.find(links, at);
      if (address === null) continue;
      increment(this.#links, address);
      if (address === own) increment(this.#ownLinks, own);
    }
  }

  decide(): Map<string, number> {
    const links = new Map<string, number>();
    for (const [address, page] of this.#pageOf) {
      const count = (this.#links[address] ?? 0) - (this.#ownLinks[address] ?? 0);
      if (count > 0) links.set(page, count);
    }
    let most = 1;
    for (const count of links.values()) most = Math.max(most, count);
    const priors = new Map([...links].map(([page, count]) => [page, Math.log1p(count) / Math.log1p(most)]));
    for (const page of this.#secondary) priors.set(page, SECONDARY_PRIOR);
    return priors;
  }
}

/** Returns one fingerprint per link, equal for all spellings of an address. Fingerprints are much faster than strings. */
export const linkPrints = (links: readonly string[]): Uint8Array => joined(links.map(printOf));

const printOf = (address: string): Uint8Array => fingerprint(plainPath(address.replace(/[#?].*$/, '')));

function increment(counts: Uint32Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}
