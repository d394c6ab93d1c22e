import { join } from 'node:path';
import type { Config } from '../../config/index.ts';
import type { Database } from '../../database/database.ts';
import { LocalCounter } from '../../http/limits/local-counter.ts';
import { OrganizationRates } from '../../http/limits/organization-rates.ts';
import { RateLogFile } from '../../http/limits/rate-log-file.ts';
import { ORGANIZATION_RATE } from '../../http/limits/sliding-log.ts';
import type { Logger } from '../log/log.ts';
import { logFailure } from '../log/log-events.ts';

export interface OpenedRates {
  readonly rates: OrganizationRates;
  flush(): Promise<void>;
}

interface RatesParts {
  readonly config: Config;
  readonly current: () => Config;
  /** Null: requests are counted for this daemon alone. */
  readonly database: Database | null;
  readonly log: Logger;
}

export async function openRates({ config, current, database, log }: RatesParts): Promise<OpenedRates> {
  const tell = (error: unknown): void => logFailure(log, 'rates', error);
  if (database === null) {
    const { windowMs, requestsMax } = ORGANIZATION_RATE;
    const dir = join(config.storage.dir, 'rates');
    const file = new RateLogFile({ dir, keepMs: windowMs, recordsMax: requestsMax, onFault: tell });
    return { rates: new OrganizationRates(new LocalCounter(file)), flush: () => file.flush() };
  }
  const [{ PostgresCounter }, { GuardedCounter }] = await Promise.all([
    import('../../http/limits/postgres-counter.ts'),
    import('../../http/limits/guarded-counter.ts'),
  ]);
  const onFault = () => current().rateLimits.onFault;
  const counter = new GuardedCounter(new PostgresCounter(database), { onFault, tell });
  return { rates: new OrganizationRates(counter), flush: async () => undefined };
}
