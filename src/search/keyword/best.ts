export interface Ranked {
  readonly section: number;
  readonly score: number;
}

/** Best first; of equals, the section that stands first in the site. */
export function byScore(left: Ranked, right: Ranked): number {
  return right.score - left.score || left.section - right.section;
}

/** The `limit` best sections of those offered, by score, the earlier section first among equals: a heap with its worst on top. */
export class Best {
  readonly #limit: number;
  readonly #sections: number[] = [];
  readonly #scores: number[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Scores up to this are left out; those of 0 always are. */
  get least(): number {
    return this.#sections.length < this.#limit ? 0 : (this.#scores[0] ?? Number.POSITIVE_INFINITY);
  }

  offer(section: number, score: number): void {
    if (this.#sections.length < this.#limit) {
      this.#sections.push(section);
      this.#scores.push(score);
      this.#rise(this.#sections.length - 1);
    } else if (this.#limit > 0 && this.#isWorse(this.#sections[0] ?? 0, this.#scores[0] ?? 0, section, score)) {
      this.#sections[0] = section;
      this.#scores[0] = score;
      this.#sink();
    }
  }

  /** Best first. */
  ranked(): Ranked[] {
    return this.#sections.map((section, at) => ({ section, score: this.#scores[at] ?? 0 })).sort(byScore);
  }

  #isWorse(section: number, score: number, otherSection: number, otherScore: number): boolean {
    return score < otherScore || (score === otherScore && section > otherSection);
  }

  #worseAt(left: number, right: number): boolean {
    return this.#isWorse(
      this.#sections[left] ?? 0,
      this.#scores[left] ?? 0,
      this.#sections[right] ?? 0,
      this.#scores[right] ?? 0,
    );
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!this.#worseAt(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#sections.length && this.#worseAt(child, worst)) worst = child;
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #swap(left: number, right: number): void {
    [this.#sections[left], this.#sections[right]] = [this.#sections[right] ?? 0, this.#sections[left] ?? 0];
    [this.#scores[left], this.#scores[right]] = [this.#scores[right] ?? 0, this.#scores[left] ?? 0];
  }
}
