interface CircuitSettings {
  readonly failuresMax: number;
  readonly openMs: number;
}

/** Open after failures in a row; then one trial decides. */
export class CircuitBreaker {
  readonly #settings: CircuitSettings;
  readonly #now: () => number;
  #failures = 0;
  #openUntilMs: number | null = null;
  #isTrying = false;

  constructor(settings: CircuitSettings, now: () => number) {
    this.#settings = settings;
    this.#now = now;
  }

  /** True where the call may be made; its caller then always reports `succeeded`, `failed` or `givenUp`. */
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

  givenUp(): void {
    this.#isTrying = false;
  }
}
