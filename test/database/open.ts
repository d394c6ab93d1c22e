import { Database } from '../../src/database/database.ts';
import { parseDatabaseUrl } from '../../src/domain/database-address.ts';
import type { EgressRules } from '../../src/domain/egress.ts';
import { EgressPolicy } from '../../src/net/egress.ts';
import { openPostgresPool } from '../../src/net/postgres.ts';
import { egressRulesOf } from '../net/http-client-of.ts';

/** Opens a database like docshelf. The URL is read for each connection. */
export function openTestDatabase(
  url: string | (() => string),
  { migrations, ...rules }: Partial<EgressRules> & { readonly migrations?: readonly string[] } = {},
): Database {
  const policy = new EgressPolicy(egressRulesOf({ connectTimeoutMs: 10_000, ...rules }));
  const address = () => {
    const found = parseDatabaseUrl(typeof url === 'string' ? url : url());
    if (found === null) throw new Error('no URL of a database');
    return found;
  };
  return new Database(openPostgresPool(policy, address, 'database.caFile'), migrations);
}
