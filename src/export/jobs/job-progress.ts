import type { StoredJob } from '../ports.ts';
import type { JobQueue } from './queue/sql-job-queue.ts';

/** Start and end of each step in percent of the whole job, measured with a first export of 1,000 Markdown pages. */
const SPANS = {
  collect: [0, 35],
  check: [35, 40],
  verify: [40, 45],
  search: [45, 80],
  pack: [80, 95],
  store: [95, 99],
} as const;
export type JobStep = keyof typeof SPANS;

/** Minimum interval between writes of a job's progress. Each write is flushed to the disk, so more writes would slow down the job. */
const WRITE_EVERY_MS = 250;

export class JobProgress {
  readonly #queue: JobQueue;
  readonly #job: StoredJob;
  readonly #onLost: () => void;
  #progress: number;
  #pageCount: number;
  #isDirty = false;
  #writing: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #writtenAt = Number.NEGATIVE_INFINITY;

  constructor(queue: JobQueue, job: StoredJob, onLost: () => void) {
    this.#queue = queue;
    this.#job = job;
    this.#onLost = onLost;
    this.#progress = job.progress;
    this.#pageCount = job.pageCount;
  }

  reporterOf(step: JobStep): (done: number, total: number, pages?: number) => void {
    const [from, to] = SPANS[step];
    return (done, total, pages) => {
      const share = total > 0 ? Math.min(1, done / total) : 0;
      this.#progress = Math.max(this.#progress, from + (to - from) * share);
      this.#pageCount = Math.max(this.#pageCount, pages ?? 0);
      this.#isDirty = true;
      this.#writeSoon();
    };
  }

  /**
   * Stores the checkpoint of a job. If the queue is unavailable, the checkpoint is lost, and a later attempt collects the site
   * again.
   */
  async checkpoint(checkpoint: string): Promise<void> {
    await this.settle();
    await this.#advance(checkpoint);
  }

  async settle(): Promise<void> {
    while (this.#writing !== null) await this.#writing;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
  }

  /** Delays a write of the progress until the minimum interval has passed. Do not drop it: the next report may come minutes later. */
  #writeSoon(): void {
    if (this.#writing !== null || this.#timer !== null) return;
    this.#timer = setTimeout(
      () => {
        this.#timer = null;
        this.#write();
      },
      Math.max(0, this.#writtenAt + WRITE_EVERY_MS - performance.now()),
    );
  }

  #write(): void {
    this.#writing = this.#advance().finally(() => {
      this.#writing = null;
      if (this.#isDirty) this.#writeSoon();
    });
  }

  async #advance(checkpoint?: string): Promise<void> {
    this.#isDirty = false;
    this.#writtenAt = performance.now();
    const step = { progress: Math.round(this.#progress * 10) / 10, pageCount: this.#pageCount };
    const isHeld = await this.#queue
      .advance(this.#job, checkpoint === undefined ? step : { ...step, checkpoint })
      // Ignore an error of the queue. If another process has taken the job, the next renewal of the lease reports it.
      .catch(() => true);
    if (!isHeld) this.#onLost();
  }
}
