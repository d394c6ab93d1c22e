const [WALL, MONOTONIC] = [0, 1];

/** Clocks that stand still until a test turns them, the same in all threads that are given their memory. */
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

  /** Sets the time of day, forward or back; nothing else knows of it. */
  setWall(time: string): void {
    this.#ms[WALL] = Date.parse(time);
  }

  /** The clock that only runs forward is at its begin, as after a boot of the machine. */
  beginAgain(): void {
    this.#ms[MONOTONIC] = 0;
  }

  /** Lets time pass, on both clocks. */
  wait(ms: number): void {
    this.#ms[WALL] = this.wallMs() + ms;
    this.#ms[MONOTONIC] = this.monotonicMs() + ms;
  }
}
