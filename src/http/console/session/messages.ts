import { randomBytes } from 'node:crypto';
import type { Problem } from '../../../domain/errors.ts';
import type { CreatedKey } from '../../keys/key-schemas.ts';

/** What became of it, or of one of its parts. */
export interface Verdict {
  readonly text: string;
  /** Null: it succeeded. */
  readonly problem: Problem | null;
}

/** What became of an action, told on the page that follows it. */
export interface ActionMessage extends Verdict {
  /** Of an action on several: on each, the refused ones first. */
  readonly each?: readonly Verdict[];
  /** To open, or to hand on: a credential, shown and never loaded. */
  readonly link?: string;
  /** Typed into a form that was refused: nobody types it twice. */
  readonly fields?: Readonly<Record<string, string>>;
  readonly made?: CreatedKey;
}

const KEPT_MAX = 20;

/** Named by the address that an action leads to: a link from elsewhere can make a page say nothing. */
export class Messages {
  readonly #kept = new Map<string, ActionMessage>();

  /** @returns its name */
  put(message: ActionMessage): string {
    const name = randomBytes(6).toString('base64url');
    const oldest = this.#kept.keys().next();
    if (this.#kept.size >= KEPT_MAX && oldest.done !== true) this.#kept.delete(oldest.value);
    this.#kept.set(name, message);
    return name;
  }

  /** Shown this once. */
  take(name: string | undefined): ActionMessage | null {
    const found = this.find(name);
    this.#kept.delete(name ?? '');
    return found;
  }

  find(name: string | undefined): ActionMessage | null {
    return this.#kept.get(name ?? '') ?? null;
  }
}
