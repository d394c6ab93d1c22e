import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import type { Database } from '../../database/database.ts';
import { OrganizationRates } from '../../http/limits/organization-rates.ts';
import type { Logger } from '../log/log.ts';
import { logFailure } from '../log/log-events.ts';

export interface OpenedRates {
  readonly rates: OrganizationRates;
  close(): void;
}

interface RatesParts {
  readonly config: Config;
  readonly current: () => Config;
  /** Null: requests are counted for the daemons on this data folder. */
  readonly database: Database | null;
  readonly log: Logger;
}

export async function openRates({ config, current, database, log }: RatesParts): Promise<OpenedRates> {
  const report = (error: unknown): void => logFailure(log, 'rates', error);
  if (database === null) {
    const { FolderCounter } = await import('../../http/limits/folder-counter.ts');
    const counter = new FolderCounter({ dir: join(config.storage.dir, 'rates'), onFault: report });
    return { rates: new OrganizationRates(counter), close: () => counter.close() };
  }
  const { GuardedCounter, PostgresCounter } = await import('../../http/limits/postgres-counter.ts');
  const onFault = () => current().rateLimits.onFault;
  const counter = new GuardedCounter(new PostgresCounter(database), { onFault, report });
  return { rates: new OrganizationRates(counter), close: () => undefined };
}
