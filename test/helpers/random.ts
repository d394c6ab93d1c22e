/** Random numbers that a seed repeats (mulberry32): a failure found by chance can be found again. */
export class SeededRandom {
  readonly seed: number;
  #state: number;

  /** @param seed a whole number; today's unless told */
  constructor(seed: number = Date.now() % 2 ** 31) {
    this.seed = seed;
    this.#state = seed;
  }

  /** From 0 up to and without 1. */
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

/** The seed that DOCSHELF_SEED names, to repeat a run. */
export function seedOfEnvironment(): number | undefined {
  const text = process.env.DOCSHELF_SEED;
  return text === undefined ? undefined : Number.parseInt(text, 10);
}
