import { toDocshelfError } from '../../domain/errors.ts';
import type { Actor } from './actor.ts';
import type { AuditLine, AuditPage } from './audit-line.ts';

export interface AuditStore {
  /** Resolves when it is written. Never rejects: what cannot be written is reported, and in the log. */
  append(line: AuditLine): Promise<void>;
  /** The newest first. @param before RFC 3339: lines of an earlier time alone @throws DocshelfError `cannot_read` */
  read(limit: number, before: string | null): Promise<AuditPage>;
}

export type AuditFacts = Partial<Pick<AuditLine, 'site' | 'organization' | 'target' | 'from' | 'to'>>;

/** Each change as a line: in the log first, then in the store, before who asked for it has the answer. */
export class AuditTrail {
  readonly #store: AuditStore;
  readonly #log: (line: AuditLine) => void;
  #count = 0;

  constructor(store: AuditStore, log: (line: AuditLine) => void) {
    this.#store = store;
    this.#log = log;
  }

  /** Lines since the start: another number with each. */
  get count(): number {
    return this.#count;
  }

  read(limit: number, before: string | null = null): Promise<AuditPage> {
    return this.#store.read(limit, before);
  }

  /** What the act gives or throws. @param after what is known only by its result */
  async record<Result>(
    actor: Actor,
    action: string,
    facts: AuditFacts,
    act: () => Promise<Result>,
    after: (result: Result) => AuditFacts & Partial<Pick<AuditLine, 'result' | 'error'>> = () => ({}),
  ): Promise<Result> {
    const line: AuditLine = { ...NOTHING, at: '', ...actor, action, ...facts, result: 'ok', error: null };
    try {
      const result = await act();
      await this.#write({ ...line, ...after(result) });
      return result;
    } catch (cause) {
      const { code, message } = toDocshelfError(cause);
      await this.#write({ ...line, result: code, error: code === 'internal' ? null : message });
      throw cause;
    }
  }

  async #write(line: AuditLine): Promise<void> {
    const dated = { ...line, at: new Date().toISOString() };
    this.#log(dated);
    await this.#store.append(dated);
    this.#count += 1;
  }
}

const NOTHING = { site: null, organization: null, target: null, from: null, to: null };
