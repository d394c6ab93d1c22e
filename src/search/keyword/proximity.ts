import type { Link as QueryWord } from './plan.ts';

type Link = Pick<QueryWord, 'terms' | 'rarity'>;

/** Words of a query that follow each other count for more where they stand so near in a section, in the same order. */
const DISTANCE_MAX = 4;
/** Between title, headings and text, so that nothing is near across them. */
const GAP: readonly number[] = Array.from({ length: DISTANCE_MAX }, () => 0);

/** A section's terms in order, 16 bits each: two that share their bits would have to stand near a third by chance to be mistaken. */
export function sequenceOf(columns: readonly (readonly string[])[]): Uint16Array {
  return Uint16Array.from(columns.flatMap((terms) => [...terms.map(bitsOf), ...GAP]));
}

/** FNV-1a, folded to 16 bits; never 0, which is the gap. */
function bitsOf(term: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < term.length; at += 1) hash = Math.imul(hash ^ term.charCodeAt(at), 0x01000193);
  return (hash >>> 16) ^ (hash & 0xffff) || 1;
}

export class Proximity {
  /** By the bits of a term, the number of its link from 1; 0: none. */
  readonly #linkOf = new Uint8Array(0x10000);
  /** By the two links of a pair, its number from 1; 0: no neighbours. */
  readonly #pairOf: Uint8Array;
  readonly #stride: number;
  readonly #rarities: number[] = [];

  /** @param links at most 254. */
  constructor(links: readonly Link[]) {
    this.#stride = links.length + 1;
    this.#pairOf = new Uint8Array(this.#stride ** 2);
    for (const [at, { terms }] of links.entries())
      for (const bits of terms.map(bitsOf)) if (this.#linkOf[bits] === 0) this.#linkOf[bits] = at + 1;
    for (const [at, second] of links.slice(1).entries()) this.#addPair(links[at] as Link, second);
  }

  get isEmpty(): boolean {
    return this.#rarities.length === 0;
  }

  of(sequence: Uint16Array, impact: (count: number) => number): number {
    const counts = new Float64Array(this.#rarities.length);
    const places: number[] = [];
    for (let at = 0; at < sequence.length; at += 1) {
      const link = this.#linkOf[sequence[at] as number] as number;
      if (link === 0) continue;
      for (let before = places.length - 1; before >= 0; before -= 1) {
        const place = places[before] as number;
        if (at - place > DISTANCE_MAX) break;
        const pair = this.#pairOf[(this.#linkOf[sequence[place] as number] as number) * this.#stride + link] as number;
        // A word between the two makes them count half, two a third.
        if (pair > 0) counts[pair - 1] = (counts[pair - 1] as number) + 1 / (at - place);
      }
      places.push(at);
    }
    let sum = 0;
    for (const [pair, count] of counts.entries())
      if (count > 0) sum += (this.#rarities[pair] as number) * impact(count);
    return sum;
  }

  #addPair(first: Link, second: Link): void {
    const [one, other] = [first, second].map(({ terms: [term] }) =>
      term === undefined ? 0 : this.#linkOf[bitsOf(term)],
    );
    if (!one || !other || one === other) return;
    const at = one * this.#stride + other;
    if (this.#pairOf[at] !== 0) return;
    this.#rarities.push(Math.min(first.rarity, second.rarity));
    this.#pairOf[at] = this.#rarities.length;
  }
}
