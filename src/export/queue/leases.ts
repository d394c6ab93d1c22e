/** What shows that an attempt is alive: the holder changes it with each renewal. */
export interface LifeSign {
  readonly jobId: string;
  readonly attempt: number;
  readonly heartbeat: number;
}

interface Sighting {
  readonly attempt: number;
  readonly heartbeat: number;
  /** When this sign was first seen, on the watcher's monotonic clock. */
  readonly sinceMs: number;
}

/**
 * Measures leases by what one watcher sees: a lease has expired when the attempt's sign of life has not changed for that
 * long on the watcher's own monotonic clock. Clocks of other hosts and times of day play no part. A watcher that has just
 * begun knows nothing and waits a whole lease.
 */
export class LeaseWatch {
  #seen: ReadonlyMap<string, Sighting> = new Map();

  /** Takes in all attempts that run now and gives those whose lease has expired. What runs no more is forgotten. */
  expired<Sign extends LifeSign>(running: readonly Sign[], leaseMs: number, nowMs: number): Sign[] {
    this.#seen = new Map(running.map((sign) => [sign.jobId, this.#sighting(sign, nowMs)]));
    return running.filter(({ jobId }) => nowMs - (this.#seen.get(jobId)?.sinceMs ?? nowMs) >= leaseMs);
  }

  #sighting({ jobId, attempt, heartbeat }: LifeSign, nowMs: number): Sighting {
    const seen = this.#seen.get(jobId);
    return seen?.attempt === attempt && seen.heartbeat === heartbeat ? seen : { attempt, heartbeat, sinceMs: nowMs };
  }
}
