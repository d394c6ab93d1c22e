import { toDocshelfError } from '../domain/errors.ts';
import type { LastError } from '../domain/status.ts';
import type { DeployEvent } from './status.ts';

export class Journal {
  readonly event: (event: DeployEvent) => void;
  activity: string | null = null;
  #lastError: LastError | null = null;
  #isOfReload = false;

  constructor(onEvent: (event: DeployEvent) => void) {
    this.event = onEvent;
  }

  get lastError(): LastError | null {
    return this.#lastError;
  }

  failed(step: string, cause: unknown): void {
    const error = toDocshelfError(cause);
    this.#isOfReload = step === 'reload';
    this.#lastError = {
      at: new Date().toISOString(),
      code: error.code,
      message: error.message,
      next: error.next ?? null,
    };
    this.event({ kind: 'failed', step, error });
  }

  /** Errors are history, save that of a config that is still refused. */
  recovered(): void {
    if (!this.#isOfReload) this.#lastError = null;
  }

  reloaded(): void {
    if (this.#isOfReload) this.#lastError = null;
    this.#isOfReload = false;
  }
}
