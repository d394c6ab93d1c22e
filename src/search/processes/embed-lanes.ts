const MIB = 1024 ** 2;
/** The process with one model takes 213 MiB, each further one 75 MiB (measured, all-MiniLM-L6-v2 int8); some of it is the tables'. */
const FIRST_BYTES = 240 * MIB;
const NEXT_BYTES = 80 * MIB;
/** For so long after a request somebody is taken to read on. */
const READING_MS = 30_000;

/** Texts that are embedded at once: on all cores but one when nobody reads, on one when someone does. */
export class EmbedLanes {
  /** By cores and memory. */
  readonly max: number;
  #readMs = Number.NEGATIVE_INFINITY;

  /** @param memoryBytes of the process that embeds */
  constructor(cores: number, memoryBytes: number) {
    const models = 1 + Math.max(0, Math.floor((memoryBytes - FIRST_BYTES) / NEXT_BYTES));
    this.max = Math.max(1, Math.min(cores - 1, models));
  }

  /** For each request of a reader. */
  noteRead(nowMs = performance.now()): void {
    this.#readMs = nowMs;
  }

  now(nowMs = performance.now()): number {
    return nowMs - this.#readMs < READING_MS ? 1 : this.max;
  }
}
