/** Random numbers that a seed repeats (mulberry32), so that a failure can be repeated. */
export class SeededRandom {
  readonly seed: number;
  #state: number;

  /** @param seed integer. Default: derived from the clock */
  constructor(seed: number = Date.now() % 2 ** 31) {
    this.seed = seed;
    this.#state = seed;
  }

  /** Number from 0 (inclusive) to 1 (exclusive). */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  pick<T>(items: readonly T[]): T {
    const item = items[Math.floor(this.next() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  }
}

/** Seed from DOCSHELF_SEED, to repeat a run. */
export function seedOfEnvironment(): number | undefined {
  const text = process.env.DOCSHELF_SEED;
  return text === undefined ? undefined : Number.parseInt(text, 10);
}
