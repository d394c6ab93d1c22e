import type { DocshelfError } from '../../domain/errors.ts';
import { KeyLooks, type KeyLooksOptions } from './key-looks.ts';
import type { KeyStore, MadeKey } from './key-store.ts';
import { KeyUses, type UseStore } from './key-uses.ts';

export interface LookedKeysOptions extends KeyLooksOptions {
  readonly usesEveryMs?: number;
}

/** Keys in a store that others change too: as last read, with their uses. */
export abstract class LookedKeys implements KeyStore {
  protected readonly looks: KeyLooks;
  readonly #uses: KeyUses;

  protected constructor(uses: UseStore, { usesEveryMs, ...looks }: LookedKeysOptions) {
    this.looks = new KeyLooks(() => this.read(), looks);
    this.#uses = new KeyUses({ store: uses, onFault: looks.onFault, everyMs: usesEveryMs });
  }

  abstract get keys(): readonly MadeKey[];
  abstract add(key: MadeKey): Promise<void>;
  abstract remove(id: string): Promise<MadeKey | null>;
  /** Brings `keys` up to date. @throws as `KeyStore.list` */
  protected abstract read(): Promise<void>;

  get fault(): DocshelfError | null {
    return this.looks.fault;
  }

  async list(): Promise<readonly MadeKey[]> {
    await this.looks.turn(() => this.looks.read());
    return this.keys;
  }

  noteUse(sha256: string): void {
    this.#uses.note(sha256);
  }

  lastUses(): Promise<ReadonlyMap<string, string>> {
    return this.#uses.all();
  }

  async stop(): Promise<void> {
    this.looks.stop();
    await this.#uses.flush();
  }
}
