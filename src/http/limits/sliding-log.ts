export interface RatePolicy {
  readonly requestsMax: number;
  readonly windowMs: number;
}

/** Contract, section 5. */
export const ORGANIZATION_RATE: RatePolicy = Object.freeze({ requestsMax: 10_000, windowMs: 3600_000 });

export interface RateVerdict {
  readonly isAllowed: boolean;
  readonly remaining: number;
  /** Whole seconds, rounded up, until the next allowed request. */
  readonly resetS: number;
}

const FIRST_CAPACITY = 64;

/** Allowed requests in any window: one of time t counts in [t, t + window). 8 bytes a request: 80 KB for 10,000. */
export class SlidingLog {
  readonly #policy: RatePolicy;
  /** A ring of `#count` ascending times from `#first`, up to the policy's maximum. */
  #times = new Float64Array(FIRST_CAPACITY);
  #first = 0;
  #count = 0;

  /** @param former times of allowed requests, in any order; the newest count */
  constructor(policy: RatePolicy, former: readonly number[] = []) {
    this.#policy = policy;
    const sorted = former.toSorted((a, b) => a - b);
    for (const time of sorted.slice(-policy.requestsMax)) this.#push(time);
  }

  take(nowMs: number): RateVerdict {
    this.#forget(nowMs);
    const isAllowed = this.#count < this.#policy.requestsMax;
    if (isAllowed) this.#push(nowMs);
    const oldestMs = this.#at(0);
    return {
      isAllowed,
      remaining: this.#policy.requestsMax - this.#count,
      resetS: Math.max(1, Math.ceil((oldestMs + this.#policy.windowMs - nowMs) / 1000)),
    };
  }

  #forget(nowMs: number): void {
    // After the clock was set back, future times count as now.
    for (let index = this.#count - 1; index >= 0 && this.#at(index) > nowMs; index--) this.#put(index, nowMs);
    while (this.#count > 0 && this.#at(0) <= nowMs - this.#policy.windowMs) {
      this.#first = (this.#first + 1) % this.#times.length;
      this.#count--;
    }
  }

  #push(time: number): void {
    if (this.#count === this.#times.length) this.#grow();
    this.#count++;
    this.#put(this.#count - 1, time);
  }

  #grow(): void {
    const larger = new Float64Array(this.#times.length * 2);
    for (let index = 0; index < this.#count; index++) larger[index] = this.#at(index);
    this.#times = larger;
    this.#first = 0;
  }

  #at(index: number): number {
    return this.#times[(this.#first + index) % this.#times.length] as number;
  }

  #put(index: number, time: number): void {
    this.#times[(this.#first + index) % this.#times.length] = time;
  }
}
