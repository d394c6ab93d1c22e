import { type CosineScale, commonScaleOf } from './cosine-scale.ts';
import { OUT, VectorKernel, type VectorRows } from './vector-kernel.ts';

export interface VectorHit {
  readonly passage: number;
  /** On the common scale (`cosine-scale.ts`). */
  readonly cosine: number;
}

interface VectorSearch {
  readonly limit: number;
  readonly allowed: Uint8Array | null;
  /** Sections found by keywords, judged by all of their passages. */
  readonly also?: readonly number[];
}

/** A table with the section of each row, rising. */
export interface SectionVectors extends VectorRows {
  readonly sections: Uint32Array;
  close?(): void;
}

/** A release's vectors: found by the distance of their sign bits, ordered by the cosine of their int8 values. */
export class VectorIndex {
  readonly #vectors: SectionVectors;
  readonly #toCommonScale: (cosine: number) => number;
  readonly #kernel: VectorKernel;
  /** First passage of each section, and the count of all at the end. */
  readonly #firsts: Uint32Array;

  constructor(vectors: SectionVectors, scale: CosineScale) {
    this.#vectors = vectors;
    this.#toCommonScale = commonScaleOf(scale);
    this.#kernel = new VectorKernel(vectors);
    this.#firsts = firstsOf(vectors.sections);
  }

  get bytes(): number {
    return this.#kernel.bytes + this.#vectors.sections.byteLength + this.#firsts.byteLength;
  }

  /** Takes in the vectors that have joined. */
  refresh(): void {
    this.#kernel.refresh();
  }

  close(): void {
    this.#vectors.close?.();
  }

  search(query: Float32Array, { limit, allowed, also = [] }: VectorSearch): Map<number, VectorHit> {
    const passages = this.#nearest(query, limit, allowed);
    const sections = this.#vectors.sections;
    const found = new Set(passages.map((at) => sections[at]));
    for (const section of also) {
      if (found.has(section)) continue;
      const end = this.#firsts[section + 1] ?? 0;
      for (let at = this.#firsts[section] ?? 0; at < end; at += 1) passages.push(at);
    }
    return this.#bestOfSections(query, passages);
  }

  /** Distances are small whole numbers: counting them finds the border without sorting. */
  #nearest(query: Float32Array, limit: number, allowed: Uint8Array | null): number[] {
    const { sections, dims } = this.#vectors;
    const distances = this.#kernel.distances(query);
    const counts = new Uint32Array(dims + 1);
    for (let at = 0; at < distances.length; at += 1) {
      if (allowed !== null && allowed[sections[at] as number] !== 1) distances[at] = OUT;
      else if (distances[at] !== OUT) (counts[distances[at] as number] as number) += 1;
    }
    let reach = 0;
    let inside = 0;
    while (reach <= dims && inside + (counts[reach] as number) <= limit) {
      inside += counts[reach] as number;
      reach += 1;
    }
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

  #bestOfSections(query: Float32Array, passages: readonly number[]): Map<number, VectorHit> {
    const { sections } = this.#vectors;
    const cosines = this.#kernel.cosines(query, passages);
    const best = new Map<number, VectorHit>();
    for (let from = 0; from < passages.length; ) {
      const section = sections[passages[from] as number] as number;
      let passage = -1;
      let cosine = Number.NEGATIVE_INFINITY;
      for (; from < passages.length && sections[passages[from] as number] === section; from += 1) {
        const at = passages[from] as number;
        const own = this.#toCommonScale(cosines[from] as number);
        if (own > cosine) [passage, cosine] = [at - (this.#firsts[section] as number), own];
      }
      if (passage >= 0) best.set(section, { passage, cosine });
    }
    return best;
  }
}

function firstsOf(sections: Uint32Array): Uint32Array {
  const firsts = new Uint32Array((sections.at(-1) ?? -1) + 2);
  for (const section of sections) (firsts[section + 1] as number) += 1;
  for (let section = 1; section < firsts.length; section += 1) {
    (firsts[section] as number) += firsts[section - 1] as number;
  }
  return firsts;
}
