/** A daemon's share of a test: counts so many requests, some at once, and says how many were allowed. */
import { PostgresCounter } from '../../../src/http/limits/postgres-counter.ts';
import { openTestDatabase } from '../../database/open.ts';

const [url = '', count = '0', atOnce = '1'] = process.argv.slice(2);
const database = openTestDatabase(url);
const counter = new PostgresCounter(database);
let [left, allowed] = [Number(count), 0];
const runner = async (): Promise<void> => {
  while (left > 0) {
    left -= 1;
    if ((await counter.take('acme')).isAllowed) allowed += 1;
  }
};
await Promise.all(Array.from({ length: Number(atOnce) }, runner));
process.stdout.write(String(allowed));
await database.close();
