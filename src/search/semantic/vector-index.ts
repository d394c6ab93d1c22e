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
  /** One byte a section, 1 where it may be found; null where all may. */
  readonly allowed: Uint8Array | null;
}

/** A release's vectors in memory: found by the distance of their sign bits, ordered by the cosine of their int8 values. */
export class VectorIndex {
  readonly #vectors: Vectors;
  readonly #scale: CosineScale;
  readonly #bits: Uint32Array;
  readonly #inverse: Float32Array;
  /** First passage of each section, and the count of passages at the end. */
  readonly #firsts: Uint32Array;
  /** Of the passages to the query that is looked for, written anew by each. */
  readonly #distances: Uint16Array;

  /** @param scale of the model that made the vectors. */
  constructor(vectors: Vectors, scale: CosineScale) {
    this.#vectors = vectors;
    this.#scale = scale;
    this.#bits = signBits(vectors.values);
    this.#inverse = inverseLengths(vectors.values, vectors.dims);
    this.#firsts = firstsOf(vectors.sections);
    this.#distances = new Uint16Array(vectors.sections.length);
  }

  get dims(): number {
    return this.#vectors.dims;
  }

  /** Sections nearest to the query, best first; of equals, the lower number. */
  search(query: Float32Array, { limit, allowed }: VectorSearch): VectorHit[] {
    return bestOfSections(this.#nearest(query, limit, allowed).map((at) => this.#hit(query, at)));
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
  #nearest(query: Float32Array, limit: number, allowed: Uint8Array | null): number[] {
    const { sections, dims } = this.#vectors;
    const bits = signBits(query);
    const distances = this.#distances;
    const counts = new Uint32Array(dims + 1);
    for (let at = 0; at < distances.length; at += 1) {
      if (allowed !== null && allowed[sections[at] as number] !== 1) {
        distances[at] = OUT;
        continue;
      }
      const distance = hammingDistance(bits, this.#bits, at * bits.length);
      distances[at] = distance;
      (counts[distance] as number) += 1;
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
    const product = dotProduct(query, values, at * dims);
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

function hammingDistance(query: Uint32Array, bits: Uint32Array, from: number): number {
  let distance = 0;
  for (let word = 0; word < query.length; word += 1) {
    // The set bits of a word, added up in pairs, fours and eights at once.
    let set = (query[word] as number) ^ (bits[from + word] as number);
    set -= (set >>> 1) & 0x55555555;
    set = (set & 0x33333333) + ((set >>> 2) & 0x33333333);
    set = (set + (set >>> 4)) & 0x0f0f0f0f;
    distance += Math.imul(set, 0x01010101) >>> 24;
  }
  return distance;
}

/** Four sums side by side: a single one would wait for each addition before the next (measured: half the time). Dims are a multiple of 32. */
function dotProduct(query: Float32Array, values: Int8Array, from: number): number {
  let [one, two, three, four] = [0, 0, 0, 0];
  for (let dim = 0; dim < query.length; dim += 4) {
    const at = from + dim;
    one += (query[dim] as number) * (values[at] as number);
    two += (query[dim + 1] as number) * (values[at + 1] as number);
    three += (query[dim + 2] as number) * (values[at + 2] as number);
    four += (query[dim + 3] as number) * (values[at + 3] as number);
  }
  return one + two + three + four;
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
