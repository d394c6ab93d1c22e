import type { Database, Session } from '../../database/database.ts';
import { SCHEMA_NAME, statement } from '../../database/statement.ts';
import {
  KEYS_MAX,
  KeyStore,
  type KeyStoreOptions,
  type MadeKey,
  tooManyKeys,
  USES_MAX,
  type Uses,
} from './key-store.ts';

const COLUMNS =
  'id, organization_id AS organization, type, name, sha256, created_at AS "createdAt", expires_at AS "expiresAt"';

/**
 * Reads all API keys. Returns no row if the revision is still `known`. For an empty table, returns one row with null key columns.
 */
const READ = statement(`
  SELECT revision, ${COLUMNS} FROM ${SCHEMA_NAME}.api_key_revision LEFT JOIN ${SCHEMA_NAME}.api_keys ON true
  WHERE revision IS DISTINCT FROM :known::uuid ORDER BY seq`);
/** First statement of each change. Locks the only row of `api_key_revision`, so that changes run one after the other. */
const REVISE = statement(`UPDATE ${SCHEMA_NAME}.api_key_revision SET revision = gen_random_uuid()`);
const ADD = statement(`
  INSERT INTO ${SCHEMA_NAME}.api_keys (id, organization_id, type, name, sha256, created_at, expires_at)
  SELECT :id, :organization, :type, :name, :sha256, :createdAt, :expiresAt
  WHERE (SELECT count(*) FROM ${SCHEMA_NAME}.api_keys) < :keysMax::int RETURNING id`);
const REMOVE = statement(`DELETE FROM ${SCHEMA_NAME}.api_keys WHERE id = :id RETURNING ${COLUMNS}`);

const READ_USES = statement(`SELECT sha256, used_at AS "usedAt" FROM ${SCHEMA_NAME}.api_key_uses`);
/** Merges API keys' times of last use. Writes rows in the order of their digests, so that concurrent daemons cannot deadlock. */
const JOIN_USES = statement(`
  INSERT INTO ${SCHEMA_NAME}.api_key_uses SELECT key, value::timestamptz FROM jsonb_each_text(:uses::jsonb) ORDER BY key
  ON CONFLICT (sha256) DO UPDATE SET used_at = greatest(api_key_uses.used_at, excluded.used_at)`);
const PRUNE_USES = statement(`
  DELETE FROM ${SCHEMA_NAME}.api_key_uses
  WHERE sha256 IN (SELECT sha256 FROM ${SCHEMA_NAME}.api_key_uses ORDER BY used_at DESC OFFSET :usesMax::int)`);

type ReadRow = { readonly revision: string } & (MadeKey | { readonly id: null });

export class PostgresKeys extends KeyStore {
  readonly #database: Database;
  #revision: string | null = null;

  private constructor(database: Database, options: KeyStoreOptions) {
    super(options);
    this.#database = database;
  }

  static async open({
    database,
    ...options
  }: KeyStoreOptions & { readonly database: Database }): Promise<PostgresKeys> {
    const store = new PostgresKeys(database, options);
    await store.begin();
    return store;
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

  protected async readKeys(): Promise<void> {
    this.#use(await this.#database.run(READ, { known: this.#revision }));
  }

  #change<Result>(act: (session: Session) => Promise<Result>): Promise<Result> {
    return this.enqueue(async () => {
      const { result, rows } = await this.#database.transact(async (session) => {
        await session.run(REVISE);
        return { result: await act(session), rows: await session.run<ReadRow>(READ) };
      });
      this.#use(rows);
      return result;
    });
  }

  #use(rows: readonly ReadRow[]): void {
    const [first] = rows;
    if (first === undefined) return;
    this.#revision = first.revision;
    this.lastRead = rows.flatMap(({ revision: _, ...key }) => (key.id === null ? [] : [key]));
  }

  protected async readUses(): Promise<Uses> {
    const rows = await this.#database.run<{ readonly sha256: string; readonly usedAt: Date }>(READ_USES);
    return new Map(rows.map(({ sha256, usedAt }) => [sha256, usedAt.toISOString()]));
  }

  protected async joinUses(uses: Uses): Promise<void> {
    await this.#database.run(JOIN_USES, { uses: JSON.stringify(Object.fromEntries(uses)) });
    await this.#database.run(PRUNE_USES, { usesMax: USES_MAX });
  }
}
