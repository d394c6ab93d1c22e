export interface CircuitSettings {
  /** Failures in a row that open it. */
  readonly failuresMax: number;
  /** How long it stays open before one attempt is made again. */
  readonly openMs: number;
}

/**
 * Keeps from asking, again and again, who does not answer. Closed: everybody asks. Open, after some failures in a row: nobody
 * does. When it has been open long enough, one attempt is let through; its success closes it, its failure opens it anew.
 *
 * Pure; times are milliseconds of a steady clock.
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

  /** Whether to ask now. Who was let in says how it went, always: `succeeded`, `failed` or `givenUp`. */
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

  /** The attempt has no answer to how it goes: the one who asked has left. The next one may try. */
  givenUp(): void {
    this.#isTrying = false;
  }
}
