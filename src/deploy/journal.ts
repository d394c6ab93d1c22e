import { toDocshelfError } from '../domain/errors.ts';
import type { LastError } from '../domain/status.ts';
import type { DeployEvent } from './status.ts';

export class Journal {
  readonly event: (event: DeployEvent) => void;
  activity: string | null = null;
  /** The one met last is the last: a refused config hides no fault that is there when it is mended. */
  readonly #errors = new Map<'reload' | 'work', LastError>();

  constructor(onEvent: (event: DeployEvent) => void) {
    this.event = onEvent;
  }

  get lastError(): LastError | null {
    return [...this.#errors.values()].at(-1) ?? null;
  }

  failed(step: string, cause: unknown): void {
    const error = toDocshelfError(cause);
    const kind = step === 'reload' ? 'reload' : 'work';
    this.#errors.delete(kind);
    this.#errors.set(kind, {
      at: new Date().toISOString(),
      code: error.code,
      message: error.message,
      next: error.next ?? null,
    });
    this.event({ kind: 'failed', step, error });
  }

  /** Errors are history, save that of a config that is still refused. */
  recovered(): void {
    this.#errors.delete('work');
  }

  reloaded(): void {
    this.#errors.delete('reload');
  }
}
