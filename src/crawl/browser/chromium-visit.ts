import { setTimeout as delay } from 'node:timers/promises';
import type { AnsweredRequest, FailedRequest } from '../render/rendered-page.ts';

/** A page that asks for more asks without end. */
const REQUESTS_MAX = 3_000;
const PAGE_BYTES_MAX = 256 * 1024 ** 2;
/** Redirects among them: browsers give up at 20. */
const DOCUMENTS_MAX = 20;
const KEPT_MAX = 100;
const ERROR_CHARACTERS_MAX = 500;
const MESSAGES_MAX = 5_000;

const POLL_MS = 20;

export class Visit {
  readonly answered: AnsweredRequest[] = [];
  readonly failures: FailedRequest[] = [];
  readonly consoleErrors: string[] = [];
  #requests = 0;
  #bytes = 0;
  #documents = 0;
  #messages = 0;
  #inFlight = 0;
  /** Begin or end of the last request (`performance.now()`). */
  lastChangeAt = performance.now();
  readonly #onFlood: () => void;
  readonly url: string;

  /** @param onFlood called over the bound of messages */
  constructor(url: string, onFlood: () => void) {
    this.url = url;
    this.#onFlood = onFlood;
  }

  admits(isOwnDocument: boolean): boolean {
    this.#requests += 1;
    if (isOwnDocument) this.#documents += 1;
    return this.#requests <= REQUESTS_MAX && this.#bytes <= PAGE_BYTES_MAX && this.#documents <= DOCUMENTS_MAX;
  }

  get hasDocument(): boolean {
    return this.#documents > 0;
  }

  begin(): void {
    this.#inFlight += 1;
    this.lastChangeAt = performance.now();
  }

  end(): void {
    this.#inFlight -= 1;
    this.lastChangeAt = performance.now();
  }

  answer(url: string, status: number, bytes: number): void {
    this.#bytes += bytes;
    this.answered.push({ url, status });
  }

  fail(url: string, why: string): void {
    if (this.failures.length < KEPT_MAX) this.failures.push({ url, why });
  }

  /** @param error null for messages of other levels */
  hear(error: string | null): void {
    this.#messages += 1;
    if (this.#messages === MESSAGES_MAX) this.#onFlood();
    if (error !== null && this.consoleErrors.length < KEPT_MAX) {
      this.consoleErrors.push(error.slice(0, ERROR_CHARACTERS_MAX));
    }
  }

  /** False after `msMax`. */
  async quiet(quietMs: number, msMax: number, signal: AbortSignal): Promise<boolean> {
    const deadline = performance.now() + msMax;
    for (;;) {
      const now = performance.now();
      if (this.#inFlight === 0 && now - this.lastChangeAt >= quietMs) return true;
      if (now >= deadline) return false;
      await delay(POLL_MS, undefined, { signal });
    }
  }
}
