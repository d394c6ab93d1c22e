const [WALL, MONOTONIC] = [0, 1];

/** Clocks that stand still until a test sets them. Threads with the same memory share them. */
export class SharedClocks {
  readonly shared: SharedArrayBuffer;
  readonly #ms: Float64Array;

  constructor(shared?: SharedArrayBuffer) {
    this.shared = shared ?? new SharedArrayBuffer(2 * Float64Array.BYTES_PER_ELEMENT);
    this.#ms = new Float64Array(this.shared);
    if (shared === undefined) this.setWall('2024-06-01T12:00:00.000Z');
  }

  wallMs(): number {
    return this.#ms[WALL] ?? 0;
  }

  monotonicMs(): number {
    return this.#ms[MONOTONIC] ?? 0;
  }

  /** Sets only the time of day, forward or back. */
  setWall(time: string): void {
    this.#ms[WALL] = Date.parse(time);
  }

  /** Resets the monotonic clock, like a restart of the machine. */
  beginAgain(): void {
    this.#ms[MONOTONIC] = 0;
  }

  /** Advances both clocks. */
  wait(ms: number): void {
    this.#ms[WALL] = this.wallMs() + ms;
    this.#ms[MONOTONIC] = this.monotonicMs() + ms;
  }
}
