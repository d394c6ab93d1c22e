import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import type { Database } from '../../database/database.ts';
import { type Organization, organizationsOf, withKeys } from '../../domain/organization.ts';
import { type Access, accessOf } from '../../http/api/auth.ts';
import { FolderKeys } from '../../http/keys/folder-keys.ts';
import { type KeyActions, KeyDesk } from '../../http/keys/key-desk.ts';
import type { KeyStore } from '../../http/keys/key-store.ts';
import type { RequestCounter } from '../../http/limits/organization-rates.ts';
import type { Logger } from '../log/log.ts';
import { logFailure } from '../log/log-events.ts';
import type { Sites } from '../sites/sites.ts';
import { organizationsSlice } from '../slices.ts';

export type OpenedRates = { readonly rates: RequestCounter; close(): void };

export interface RatesParts {
  readonly config: Config;
  readonly current: () => Config;
  readonly database: Database | null;
  readonly log: Logger;
}

export async function openRates({ config, current, database, log }: RatesParts): Promise<OpenedRates> {
  const report = (error: unknown): void => logFailure(log, 'rates', error);
  if (database === null) {
    const { FolderCounter } = await import('../../http/limits/folder-counter.ts');
    const counter = new FolderCounter({ dir: join(config.storage.dir, 'rates'), onFault: report });
    return { rates: counter, close: () => counter.close() };
  }
  const { GuardedCounter, PostgresCounter } = await import('../../http/limits/postgres-counter.ts');
  const onFault = () => current().rateLimits.onFault;
  const counter = new GuardedCounter(new PostgresCounter(database), { onFault, report });
  return { rates: counter, close: () => undefined };
}

interface KeyStoreParts {
  readonly database: Database | null;
  readonly dir: string;
  readonly onFault: (error: unknown) => void;
}

export async function openKeyStore({ database, dir, onFault }: KeyStoreParts): Promise<KeyStore> {
  if (database === null) return FolderKeys.open({ dir, onFault });
  const { PostgresKeys } = await import('../../http/keys/postgres-keys.ts');
  return PostgresKeys.open({ database, onFault });
}

interface ServiceKeysParts {
  readonly store: KeyStore;
  readonly current: () => Config;
  readonly sites: Pick<Sites, 'all' | 'names' | 'only'>;
}

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

  get organizations(): readonly Organization[] {
    const { current, sites } = this.#parts;
    const config = current();
    return organizationsOf(organizationsSlice(config), { sites: sites.names, keys: config.search.keys });
  }

  /** API keys with their rights, built again if the config or a key changes, or if the first bundle sets the domain. */
  get access(): Access {
    const { current, sites, store } = this.#parts;
    const of = [current(), sites.all, sites.only?.domain, store.keys];
    if (this.#made?.of.every((each, at) => each === of[at]) !== true)
      this.#made = { of, access: accessOf(withKeys(this.organizations, store.keys), () => store.fault) };
    return this.#made.access;
  }

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
    return fault === null ? [] : [`${fault.message}. The previous keys stay valid.`];
  }

  stop(): Promise<void> {
    return this.#parts.store.stop();
  }
}
