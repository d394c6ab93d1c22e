import type { Database, Session } from '../../database/database.ts';
import { SCHEMA_NAME } from '../../database/schema-name.ts';
import { statement } from '../../database/statement.ts';
import {
  KEYS_MAX,
  LookedKeys,
  type LookedKeysOptions,
  type MadeKey,
  tooManyKeys,
  USES_MAX,
  type UseStore,
} from './key-store.ts';

const READ_USES = statement(`SELECT sha256, used_at AS "usedAt" FROM ${SCHEMA_NAME}.api_key_uses`);
/** In one order: daemons that write at once wait for each other, and in no circle. */
const JOIN_USES = statement(`
  INSERT INTO ${SCHEMA_NAME}.api_key_uses SELECT key, value::timestamptz FROM jsonb_each_text(:uses::jsonb) ORDER BY key
  ON CONFLICT (sha256) DO UPDATE SET used_at = greatest(api_key_uses.used_at, excluded.used_at)`);
const PRUNE_USES = statement(`
  DELETE FROM ${SCHEMA_NAME}.api_key_uses
  WHERE sha256 IN (SELECT sha256 FROM ${SCHEMA_NAME}.api_key_uses ORDER BY used_at DESC OFFSET :usesMax::int)`);

/** A table beside the keys', of those of the config too. */
export class PostgresKeyUses implements UseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#database.run<{ readonly sha256: string; readonly usedAt: Date }>(READ_USES);
    return new Map(rows.map(({ sha256, usedAt }) => [sha256, usedAt.toISOString()]));
  }

  async join(uses: ReadonlyMap<string, string>): Promise<void> {
    await this.#database.run(JOIN_USES, { uses: JSON.stringify(Object.fromEntries(uses)) });
    await this.#database.run(PRUNE_USES, { usesMax: USES_MAX });
  }
}

interface PostgresKeysOptions extends LookedKeysOptions {
  readonly database: Database;
}

const COLUMNS =
  'id, organization_id AS organization, type, name, sha256, created_at AS "createdAt", expires_at AS "expiresAt"';

/** No row where nothing has changed since `known`; where there is no key, one of nulls. */
const READ = statement(`
  SELECT revision, ${COLUMNS} FROM ${SCHEMA_NAME}.api_key_revision LEFT JOIN ${SCHEMA_NAME}.api_keys ON true
  WHERE revision IS DISTINCT FROM :known::uuid ORDER BY seq`);
/** Changes come one after the other by the lock of its row. */
const REVISE = statement(`UPDATE ${SCHEMA_NAME}.api_key_revision SET revision = gen_random_uuid()`);
const ADD = statement(`
  INSERT INTO ${SCHEMA_NAME}.api_keys (id, organization_id, type, name, sha256, created_at, expires_at)
  SELECT :id, :organization, :type, :name, :sha256, :createdAt, :expiresAt
  WHERE (SELECT count(*) FROM ${SCHEMA_NAME}.api_keys) < :keysMax::int RETURNING id`);
const REMOVE = statement(`DELETE FROM ${SCHEMA_NAME}.api_keys WHERE id = :id RETURNING ${COLUMNS}`);

type ReadRow = { readonly revision: string } & (MadeKey | { readonly id: null });

/** For all daemons on the database. While that is away, keys as last read hold on, and none is made or revoked. */
export class PostgresKeys extends LookedKeys {
  readonly #database: Database;
  #keys: readonly MadeKey[] = [];
  /** Of `#keys`; null before the first read. */
  #revision: string | null = null;

  private constructor({ database, ...options }: PostgresKeysOptions) {
    super(new PostgresKeyUses(database), options);
    this.#database = database;
  }

  /** A database that is away is told, and keeps no daemon from its start. */
  static async open(options: PostgresKeysOptions): Promise<PostgresKeys> {
    const store = new PostgresKeys(options);
    await store.looks.begin();
    return store;
  }

  get keys(): readonly MadeKey[] {
    return this.#keys;
  }

  async add(key: MadeKey): Promise<void> {
    await this.#change(async (session) => {
      const added = await session.run(ADD, { ...key, keysMax: KEYS_MAX });
      if (added.length === 0) throw tooManyKeys();
    });
  }

  remove(id: string): Promise<MadeKey | null> {
    return this.#change(async (session) => (await session.run<MadeKey>(REMOVE, { id }))[0] ?? null);
  }

  protected async read(): Promise<void> {
    this.#take(await this.#database.run(READ, { known: this.#revision }));
  }

  #change<Result>(act: (session: Session) => Promise<Result>): Promise<Result> {
    return this.looks.turn(async () => {
      const { result, rows } = await this.#database.transact(async (session) => {
        await session.run(REVISE);
        return { result: await act(session), rows: await session.run<ReadRow>(READ) };
      });
      this.#take(rows);
      return result;
    });
  }

  #take(rows: readonly ReadRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    this.#revision = first.revision;
    this.#keys = rows.flatMap(({ revision: _, ...key }) => (key.id === null ? [] : [key]));
  }
}
