/** By the links to a page in the text of others: 0 to 1, by the logarithm. */
export class PagePriors {
  readonly #links = new Map<string, number>();
  readonly #ownLinks = new Map<string, number>();
  readonly #pageOf = new Map<string, string>();

  constructor(addresses: Iterable<string>) {
    for (const address of addresses) this.#links.set(plainAddress(address), 0);
  }

  /** @param links as `plainAddress` writes them */
  add(page: string, links: readonly string[]): void {
    const own = plainAddress(page);
    this.#pageOf.set(own, page);
    for (const address of links) {
      const count = this.#links.get(address);
      if (count === undefined) continue;
      this.#links.set(address, count + 1);
      if (address === own) this.#ownLinks.set(page, (this.#ownLinks.get(page) ?? 0) + 1);
    }
  }

  /** By page. Where two pages share an address, the links are the last one's. */
  decide(): Map<string, number> {
    const links = new Map<string, number>();
    for (const [address, page] of this.#pageOf) {
      const count = (this.#links.get(address) ?? 0) - (this.#ownLinks.get(page) ?? 0);
      if (count > 0) links.set(page, count);
    }
    let most = 1;
    for (const count of links.values()) most = Math.max(most, count);
    return new Map([...links].map(([page, count]) => [page, Math.log1p(count) / Math.log1p(most)]));
  }
}

/** The same of all ways to write it. */
export function plainAddress(path: string): string {
  return path
    .replace(/[#?].*$/, '')
    .replace(/(?:\/index)?\.x?html?$/i, '')
    .replace(/\/$/, '');
}
