import { toDocshelfError } from '../domain/errors.ts';
import type { LastError } from '../domain/status.ts';
import type { DeployEvent } from './status.ts';

/** What the deployment remembers of what happened, and passes on to the log and the metrics. */
export class Journal {
  readonly event: (event: DeployEvent) => void;
  /** What goes on now, in words, or null. */
  activity: string | null = null;
  #lastError: LastError | null = null;
  /** Whether the last error is that of a config that could not be taken. */
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

  /** What was asked for is served: the last error is history, unless it is the config that is at fault. */
  recovered(): void {
    if (!this.#isOfReload) this.#lastError = null;
  }

  /** A sound config was taken. */
  reloaded(): void {
    if (this.#isOfReload) this.#lastError = null;
    this.#isOfReload = false;
  }
}
