import { FINGERPRINT_BYTES, Fingerprints, fingerprint, joined } from '../compact.ts';

/** Importance of pages from 0 to 1, by the logarithm of the links to them in the text of others. */
export class PagePriors {
  readonly #pages: readonly string[];
  readonly #addresses: Fingerprints;
  readonly #addressOf: Uint32Array;
  readonly #links: Uint32Array;
  readonly #ownLinks: Uint32Array;
  readonly #pageOf = new Map<number, string>();

  constructor(pages: readonly string[]) {
    this.#pages = pages;
    this.#addresses = new Fingerprints(pages.length);
    this.#addressOf = Uint32Array.from(pages, (page) => this.#addresses.add(printOf(page)));
    this.#links = new Uint32Array(this.#addresses.count);
    this.#ownLinks = new Uint32Array(this.#addresses.count);
  }

  add(number: number, links: Uint8Array): void {
    const own = this.#addressOf[number] as number;
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
    return new Map([...links].map(([page, count]) => [page, Math.log1p(count) / Math.log1p(most)]));
  }
}

/** One fingerprint per link, equal for all spellings of an address. Strings took longer to look up than the rest of a page. */
export function linkPrints(links: readonly string[]): Uint8Array {
  return joined(links.map(printOf));
}

const printOf = (address: string): Uint8Array => fingerprint(plainAddress(address));

function plainAddress(path: string): string {
  return path
    .replace(/[#?].*$/, '')
    .replace(/(?:\/index)?\.x?html?$/i, '')
    .replace(/\/$/, '');
}

function increment(counts: Uint32Array, at: number): void {
  counts[at] = (counts[at] ?? 0) + 1;
}
