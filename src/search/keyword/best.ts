export interface Ranked {
  readonly section: number;
  readonly score: number;
}

export function byScore(left: Ranked, right: Ranked): number {
  return right.score - left.score || left.section - right.section;
}

/** Of equals the earlier section first: a heap with its worst on top. */
export class Best {
  readonly #limit: number;
  readonly #heap: Ranked[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Scores up to this are left out; those of 0 always are. */
  get least(): number {
    return this.#heap.length < this.#limit ? 0 : (this.#heap[0]?.score ?? Number.POSITIVE_INFINITY);
  }

  offer(section: number, score: number): void {
    const offered = { section, score };
    const [worst] = this.#heap;
    if (this.#heap.length < this.#limit) {
      this.#rise(this.#heap.push(offered) - 1);
    } else if (worst !== undefined && byScore(worst, offered) > 0) {
      this.#heap[0] = offered;
      this.#sink();
    }
  }

  ranked(): Ranked[] {
    return this.#heap.toSorted(byScore);
  }

  #isWorse(at: number, than: number): boolean {
    return byScore(this.#heap[at] as Ranked, this.#heap[than] as Ranked) > 0;
  }

  #rise(from: number): void {
    for (let at = from; at > 0; ) {
      const parent = (at - 1) >>> 1;
      if (!this.#isWorse(at, parent)) return;
      this.#swap(at, parent);
      at = parent;
    }
  }

  #sink(): void {
    for (let at = 0; ; ) {
      let worst = at;
      for (const child of [2 * at + 1, 2 * at + 2])
        if (child < this.#heap.length && this.#isWorse(child, worst)) worst = child;
      if (worst === at) return;
      this.#swap(at, worst);
      at = worst;
    }
  }

  #swap(left: number, right: number): void {
    [this.#heap[left], this.#heap[right]] = [this.#heap[right] as Ranked, this.#heap[left] as Ranked];
  }
}
