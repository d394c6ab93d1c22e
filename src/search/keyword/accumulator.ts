import { Best, type Ranked } from './best.ts';
import type { Mask } from './filter.ts';
import type { Postings } from './postings.ts';

/** One per open index, emptied between queries: no allocation. */
export class Accumulator {
  readonly #scores: Float64Array;
  readonly #touched: Uint32Array;
  #count = 0;

  constructor(sections: number) {
    this.#scores = new Float64Array(sections);
    this.#touched = new Uint32Array(sections);
  }

  get bytes(): number {
    return this.#scores.byteLength + this.#touched.byteLength;
  }

  add({ sections, impacts }: Postings, weight: number, mask: Mask): void {
    for (let at = 0; at < sections.length; at += 1) {
      const section = sections[at] as number;
      if (mask === null || mask[section] === 1)
        this.#put(section, this.get(section) + weight * (impacts[at] as number));
    }
  }

  /** For alternatives of one term: a section counts the best one that it has. */
  raise({ sections, impacts }: Postings, weight: number, mask: Mask): void {
    for (let at = 0; at < sections.length; at += 1) {
      const section = sections[at] as number;
      if (mask === null || mask[section] === 1)
        this.#put(section, Math.max(this.get(section), weight * (impacts[at] as number)));
    }
  }

  addTo(section: number, score: number): void {
    this.#put(section, this.get(section) + score);
  }

  get(section: number): number {
    return this.#scores[section] ?? 0;
  }

  take(section: number): number {
    const score = this.get(section);
    this.#scores[section] = 0;
    return score;
  }

  takeBest(limit: number, lifts: Float32Array): Ranked[] {
    const best = new Best(limit);
    for (let at = 0; at < this.#count; at += 1) {
      const section = this.#touched[at] as number;
      const score = (this.#scores[section] as number) * (lifts[section] as number);
      this.#scores[section] = 0;
      if (score > best.least) best.offer(section, score);
    }
    this.#count = 0;
    return best.ranked();
  }

  drain(take: (section: number, score: number) => void): void {
    for (let at = 0; at < this.#count; at += 1) {
      const section = this.#touched[at] as number;
      take(section, this.#scores[section] as number);
      this.#scores[section] = 0;
    }
    this.#count = 0;
  }

  #put(section: number, score: number): void {
    if (this.#scores[section] === 0) this.#touched[this.#count++] = section;
    this.#scores[section] = score;
  }
}
