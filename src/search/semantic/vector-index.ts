import { type CosineScale, toCommonScale } from './cosine-scale.ts';
import { inverseLengths, signBits } from './quantise.ts';
import type { Vectors } from './vector-file.ts';

/** A section by its best passage. */
export interface VectorHit {
  readonly section: number;
  /** Which passage of the section, from 0. */
  readonly passage: number;
  /** Of the query and the passage, on the common scale (`cosine-scale.ts`). */
  readonly cosine: number;
}

export interface VectorSearch {
  /** Passages that are rescored, and so the most sections that are found. */
  readonly limit: number;
  /** Which sections may be found; all, where it is left out. */
  readonly allows?: (section: number) => boolean;
}

/** A release's vectors in memory: found by the distance of their sign bits, ordered by the cosine of their int8 values. */
export class VectorIndex {
  readonly #vectors: Vectors;
  readonly #scale: CosineScale;
  readonly #bits: Uint32Array;
  readonly #inverse: Float32Array;
  /** First passage of each section, and the count of passages at the end. */
  readonly #firsts: Uint32Array;

  /** @param scale of the model that made the vectors. */
  constructor(vectors: Vectors, scale: CosineScale) {
    this.#vectors = vectors;
    this.#scale = scale;
    this.#bits = signBits(vectors.values);
    this.#inverse = inverseLengths(vectors.values, vectors.dims);
    this.#firsts = firstsOf(vectors.sections);
  }

  get dims(): number {
    return this.#vectors.dims;
  }

  /** Sections nearest to the query, best first; of equals, the lower number. */
  search(query: Float32Array, { limit, allows }: VectorSearch): VectorHit[] {
    return bestOfSections(this.#nearest(query, limit, allows).map((at) => this.#hit(query, at)));
  }

  /** The cosines of sections that something else found, by section; those without a passage are left out. */
  cosines(query: Float32Array, sections: Iterable<number>): Map<number, VectorHit> {
    const hits = new Map<number, VectorHit>();
    for (const section of sections) {
      for (let at = this.#firsts[section] ?? 0; at < (this.#firsts[section + 1] ?? 0); at += 1) {
        const hit = this.#hit(query, at);
        if (hit.cosine > (hits.get(section)?.cosine ?? Number.NEGATIVE_INFINITY)) hits.set(section, hit);
      }
    }
    return hits;
  }

  /**
   * Passages with the least distance, at most `limit`. Distances are small whole numbers: counted, they give the greatest
   * that still fits without sorting anything.
   */
  #nearest(query: Float32Array, limit: number, allows: VectorSearch['allows']): number[] {
    const { sections, dims } = this.#vectors;
    const distances = hammingDistances(signBits(query), this.#bits);
    const counts = new Uint32Array(dims + 1);
    for (let at = 0; at < distances.length; at += 1) {
      if (allows !== undefined && !allows(sections[at] as number)) distances[at] = OUT;
      else (counts[distances[at] as number] as number) += 1;
    }
    let reach = 0;
    let inside = 0;
    while (reach <= dims && inside + (counts[reach] as number) <= limit) {
      inside += counts[reach] as number;
      reach += 1;
    }
    // Of those at the border, as many as there is room for, in their order.
    let atBorder = limit - inside;
    const nearest: number[] = [];
    for (let at = 0; at < distances.length; at += 1) {
      const distance = distances[at] as number;
      if (distance < reach) nearest.push(at);
      else if (distance === reach && atBorder > 0) {
        atBorder -= 1;
        nearest.push(at);
      }
    }
    return nearest;
  }

  #hit(query: Float32Array, at: number): VectorHit {
    const { sections, values, dims } = this.#vectors;
    const from = at * dims;
    let product = 0;
    for (let dim = 0; dim < dims; dim += 1) product += (query[dim] as number) * (values[from + dim] as number);
    const section = sections[at] as number;
    return {
      section,
      passage: at - (this.#firsts[section] as number),
      cosine: toCommonScale(product * (this.#inverse[at] as number), this.#scale),
    };
  }
}

/** No distance: above the most dims that there are. */
const OUT = 0xffff;

function hammingDistances(query: Uint32Array, bits: Uint32Array): Uint16Array {
  const words = query.length;
  const distances = new Uint16Array(bits.length / words);
  for (let at = 0, from = 0; at < distances.length; at += 1, from += words) {
    let distance = 0;
    for (let word = 0; word < words; word += 1) {
      // The set bits of a word, added up in pairs, fours and eights at once.
      let set = (query[word] as number) ^ (bits[from + word] as number);
      set -= (set >>> 1) & 0x55555555;
      set = (set & 0x33333333) + ((set >>> 2) & 0x33333333);
      set = (set + (set >>> 4)) & 0x0f0f0f0f;
      distance += Math.imul(set, 0x01010101) >>> 24;
    }
    distances[at] = distance;
  }
  return distances;
}

function firstsOf(sections: Uint32Array): Uint32Array {
  const firsts = new Uint32Array((sections.at(-1) ?? -1) + 2);
  for (const section of sections) (firsts[section + 1] as number) += 1;
  for (let section = 1; section < firsts.length; section += 1) {
    (firsts[section] as number) += firsts[section - 1] as number;
  }
  return firsts;
}

function bestOfSections(hits: readonly VectorHit[]): VectorHit[] {
  const best = new Map<number, VectorHit>();
  for (const hit of hits) {
    if (hit.cosine > (best.get(hit.section)?.cosine ?? Number.NEGATIVE_INFINITY)) best.set(hit.section, hit);
  }
  return [...best.values()].sort((one, other) => other.cosine - one.cosine || one.section - other.section);
}
