import type { Config } from '../../config/index.ts';
import { type Organization, organizationsOf, withKeys } from '../../domain/organization.ts';
import { type Access, accessOf } from '../../http/api/keys.ts';
import { type KeyActions, KeyDesk } from '../../http/keys/key-desk.ts';
import type { KeyStore } from '../../http/keys/key-store.ts';
import type { Sites } from '../sites/sites.ts';
import { organizationsSlice } from '../slices.ts';

interface ServiceKeysParts {
  readonly store: KeyStore;
  readonly current: () => Config;
  readonly sites: Pick<Sites, 'all' | 'names' | 'only'>;
}

/** Keys of the config and those of the store, as one. */
export class ServiceKeys {
  readonly actions: KeyActions;
  readonly #parts: ServiceKeysParts;
  #seen: readonly unknown[] | null = null;
  #revision = 0;
  #made: { readonly of: readonly unknown[]; readonly access: Access } | null = null;

  constructor(parts: ServiceKeysParts) {
    this.#parts = parts;
    this.actions = new KeyDesk({ store: parts.store, organizations: () => this.organizations });
  }

  /** With the keys of the config. */
  get organizations(): readonly Organization[] {
    const { current, sites } = this.#parts;
    const config = current();
    return organizationsOf(organizationsSlice(config), { sites: sites.names, keys: config.search.keys });
  }

  /** Made anew when the config or a key changes, or a first bundle settles a domain. */
  get access(): Access {
    const { current, sites, store } = this.#parts;
    const of = [current(), sites.all, sites.only?.domain, store.keys];
    if (this.#made?.of.every((each, at) => each === of[at]) !== true) {
      this.#made = { of, access: accessOf(withKeys(this.organizations, store.keys), () => store.fault) };
    }
    return this.#made.access;
  }

  /** Of the keys made at run time: another number with each change that was noticed. */
  revision(): number {
    const { keys } = this.#parts.store;
    if (keys !== this.#seen) this.#revision += 1;
    this.#seen = keys;
    return this.#revision;
  }

  noteUse(sha256: string): void {
    this.#parts.store.noteUse(sha256);
  }

  get notices(): readonly string[] {
    const { fault } = this.#parts.store;
    return fault === null ? [] : [`${fault.message}. Keys as last read hold on.`];
  }

  stop(): Promise<void> {
    return this.#parts.store.stop();
  }
}
