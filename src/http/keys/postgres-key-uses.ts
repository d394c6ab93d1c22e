import type { Database } from '../../database/database.ts';
import { SCHEMA_NAME, statement } from '../../database/statement.ts';
import { USES_MAX, type UseStore } from './key-uses.ts';

const READ = statement(`SELECT sha256, used_at AS "usedAt" FROM ${SCHEMA_NAME}.api_key_uses`);
/** In one order: daemons that write at once wait for each other, and in no circle. */
const JOIN = statement(`
  INSERT INTO ${SCHEMA_NAME}.api_key_uses SELECT key, value::timestamptz FROM jsonb_each_text(:uses::jsonb) ORDER BY key
  ON CONFLICT (sha256) DO UPDATE SET used_at = greatest(api_key_uses.used_at, excluded.used_at)`);
const PRUNE = statement(`
  DELETE FROM ${SCHEMA_NAME}.api_key_uses
  WHERE sha256 IN (SELECT sha256 FROM ${SCHEMA_NAME}.api_key_uses ORDER BY used_at DESC OFFSET :usesMax::int)`);

/** A table beside the keys', of those of the config too. */
export class PostgresKeyUses implements UseStore {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async read(): Promise<ReadonlyMap<string, string>> {
    const rows = await this.#database.run<{ readonly sha256: string; readonly usedAt: Date }>(READ);
    return new Map(rows.map(({ sha256, usedAt }) => [sha256, usedAt.toISOString()]));
  }

  async join(uses: ReadonlyMap<string, string>): Promise<void> {
    await this.#database.run(JOIN, { uses: JSON.stringify(Object.fromEntries(uses)) });
    await this.#database.run(PRUNE, { usesMax: USES_MAX });
  }
}
