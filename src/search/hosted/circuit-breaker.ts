export interface CircuitSettings {
  /** Failures in a row that open it. */
  readonly failuresMax: number;
  /** How long it stays open before one attempt is made again. */
  readonly openMs: number;
}

/**
 * A circuit breaker: closed, every call goes through; open, after some failures in a row, none does. Open long enough, it
 * lets one trial through, whose success closes it and whose failure opens it anew. Times are milliseconds of a steady clock.
 */
export class CircuitBreaker {
  readonly #settings: CircuitSettings;
  readonly #now: () => number;
  #failures = 0;
  /** When one attempt may be made again; null: closed. */
  #openUntilMs: number | null = null;
  /** That attempt is under way. */
  #isTrying = false;

  constructor(settings: CircuitSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** True where the call may be made; its caller then reports `succeeded`, `failed` or `givenUp`, always. */
  admits(): boolean {
    if (this.#openUntilMs === null) return true;
    if (this.#isTrying || this.#now() < this.#openUntilMs) return false;
    this.#isTrying = true;
    return true;
  }

  succeeded(): void {
    this.#failures = 0;
    this.#openUntilMs = null;
    this.#isTrying = false;
  }

  failed(): void {
    this.#failures++;
    this.#isTrying = false;
    if (this.#failures >= this.#settings.failuresMax) this.#openUntilMs = this.#now() + this.#settings.openMs;
  }

  /** The call was aborted by its caller: the next one may try. */
  givenUp(): void {
    this.#isTrying = false;
  }
}
