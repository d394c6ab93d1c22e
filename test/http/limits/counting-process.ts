/** A daemon in a test: counts requests, some at once, and prints how many were allowed. The store is a folder or a database. */
import { FolderCounter } from '../../../src/http/limits/folder-counter.ts';
import { PostgresCounter } from '../../../src/http/limits/postgres-counter.ts';
import { openTestDatabase } from '../../database/open.ts';

const [store = '', count = '0', atOnce = '1'] = process.argv.slice(2);
const policy = { requestsMax: 1_000, windowMs: 3_600_000 };
const database = store.startsWith('/') ? null : openTestDatabase(store);
const onFault = (error: unknown): never => {
  throw error;
};
// A busy machine can keep the lock from one of 108 requests for longer than the usual ten seconds.
const lockMsMax = 600_000;
const counter =
  database === null
    ? new FolderCounter({ dir: store, policy, onFault, lockMsMax })
    : new PostgresCounter(database, policy);
let [left, allowed] = [Number(count), 0];
const runner = async (): Promise<void> => {
  while (left > 0) {
    left -= 1;
    if ((await counter.take('acme')).isAllowed) allowed += 1;
  }
};
await Promise.all(Array.from({ length: Number(atOnce) }, runner));
process.stdout.write(String(allowed));
await database?.close();
