import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Database } from '../../../src/database/database.ts';
import { KEYS_MAX, USES_MAX } from '../../../src/http/keys/key-store.ts';
import { PostgresKeys } from '../../../src/http/keys/postgres-keys.ts';
import { openTestDatabase } from '../../database/open.ts';
import { HAS_POSTGRES, PostgresServer } from '../../helpers/postgres.ts';
import { madeKey } from './made-key.ts';

/** Fills the table up to its limit, minus the rows that the test adds. */
const FILL = `
  INSERT INTO docshelf.api_keys (id, organization_id, type, name, sha256, created_at)
  SELECT at, 'acme', 'admin', at, lpad(at::text, 64, '0'), '2026-11-23T10:00:00.000Z' FROM generate_series(1, $1::int) AS at`;
const FILL_USES = `
  INSERT INTO docshelf.api_key_uses SELECT lpad(at::text, 64, '0'), '2026-11-23T10:00:00Z' FROM generate_series(1, $1::int) AS at`;

describe.skipIf(!HAS_POSTGRES)('PostgresKeys (API keys in a PostgreSQL database)', () => {
  let server: PostgresServer;
  let database: Database;
  let keys: PostgresKeys;
  const faults: unknown[] = [];
  const open = () =>
    PostgresKeys.open({ database, onFault: (error) => faults.push(error), readEveryMs: 20, usesEveryMs: 20 });

  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  beforeEach(async () => {
    database = openTestDatabase(await server.createDatabase());
    keys = await open();
  });
  afterEach(async () => {
    await keys.stop();
    await database.close();
    faults.length = 0;
  });

  it('keeps the last known keys and rejects changes while the database is unavailable, and recovers afterwards', async () => {
    await keys.add(madeKey('one'));
    const stored = keys.keys;
    await server.stop();
    await expect.poll(() => keys.fault?.code).toBe('database_unavailable');
    expect(keys.keys).toBe(stored);
    for (const act of [() => keys.add(madeKey('two')), () => keys.remove('one'), () => keys.list()])
      await expect(act()).rejects.toMatchObject({ code: 'database_unavailable', fields: { retryable: true } });
    expect(faults).toMatchObject([{ code: 'database_unavailable' }]);
    keys.noteUse(madeKey('one').sha256);
    expect((await keys.lastUses()).size).toBe(1);

    await server.go();
    await expect.poll(() => keys.fault).toBeNull();
    await keys.add(madeKey('two'));
    expect((await keys.list()).map(({ id }) => id)).toEqual(['one', 'two']);
  });

  it('starts without keys if the database is unavailable, and loads the keys when the database is available', async () => {
    await keys.add(madeKey('one'));
    await server.stop();
    const late = await open();
    expect([late.keys, late.fault?.code]).toEqual([[], 'database_unavailable']);
    await server.go();
    await expect.poll(() => late.keys.map(({ id }) => id)).toEqual(['one']);
    await late.stop();
  });

  it('reads the keys again only after a change', async () => {
    await keys.add(madeKey('one'));
    const { keys: held } = keys;
    expect(await keys.list()).toBe(held);
    await keys.add(madeKey('two'));
    expect(await keys.list()).not.toBe(held);
  });

  it('limits the number of keys, even if several daemons add keys concurrently', async () => {
    await database.execute(FILL, [KEYS_MAX - 1]);
    const results = await Promise.allSettled(
      Array.from({ length: 3 }, async (_, at) => {
        const store = await open();
        try {
          await store.add(madeKey(`key-${at}`));
        } finally {
          await store.stop();
        }
      }),
    );
    const refused = results.flatMap((result) => (result.status === 'rejected' ? [result.reason] : []));
    expect(refused.map(({ code }) => code)).toEqual(Array.from({ length: 2 }, () => 'too_many_keys'));
    expect(await keys.list()).toHaveLength(KEYS_MAX);
  });

  it('stores the last use of a limited number of keys, and removes the oldest of these entries', async () => {
    await database.execute(FILL_USES, [USES_MAX]);
    const { sha256 } = madeKey('one');
    keys.noteUse(sha256);
    await keys.stop();
    const uses = await keys.lastUses();
    expect([uses.size, uses.has(sha256)]).toEqual([USES_MAX, true]);
  });
});
