import { PostgresKeys } from '../../../src/http/keys/postgres-keys.ts';
import { openTestDatabase } from '../../database/open.ts';
import { PostgresServer } from '../../helpers/postgres.ts';
import type { KeysSubject } from './subject.ts';

const TABLES = ['api_keys', 'api_key_revision', 'api_key_uses'];

/** @returns a function that opens stores on one server, which ends with the file */
export function postgresSubject(): () => Promise<KeysSubject> {
  let started: Promise<PostgresServer> | null = null;
  return async () => {
    started ??= PostgresServer.start();
    const server = await started;
    const url = await server.createDatabase();
    const ends: (() => Promise<void>)[] = [];
    const another = async (): Promise<PostgresKeys> => {
      const database = openTestDatabase(url);
      const store = await PostgresKeys.open({ database, onFault: () => undefined, readEveryMs: 20 });
      ends.push(async () => {
        await store.stop();
        await database.close();
      });
      return store;
    };
    return {
      store: await another(),
      another,
      written: async () => {
        const rows = await Promise.all(TABLES.map((name) => server.query(`SELECT * FROM docshelf.${name}`, url)));
        return JSON.stringify(rows);
      },
      close: async () => {
        await Promise.all(ends.map((end) => end()));
      },
    };
  };
}
