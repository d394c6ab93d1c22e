import type { Config } from '../config/index.ts';
import type { Database } from '../database/database.ts';
import { parseDatabaseUrl } from '../domain/database-address.ts';
import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import type { Network } from './network.ts';

/**
 * Null where the config has none: then nothing of it is loaded. A server that is away is no fault of the start.
 * @throws DocshelfError `database_unfit`
 */
export async function openDatabase(
  config: Config,
  network: Network,
  onFault: (error: unknown) => void,
): Promise<Database | null> {
  if (config.database.urlFile === null) return null;
  const [{ Database }, { openPostgresPool }] = await Promise.all([
    import('../database/database.ts'),
    import('../net/postgres.ts'),
  ]);
  const policy = (await network.policy()).forStore(() => network.config.database.caFile);
  const address = () => {
    // Of a reload that removed it: the database of the start is used until the next.
    const { urlFile } = network.config.database.urlFile === null ? config.database : network.config.database;
    const found = parseDatabaseUrl(urlFile?.text.reveal() ?? '');
    if (found !== null) return found;
    throw new DocshelfError('config_invalid', 'Cannot use the database: database.urlFile holds no URL of one');
  };
  const database = new Database(openPostgresPool(policy, address, 'database.caFile'));
  try {
    await database.bringUp();
  } catch (error) {
    if (toDocshelfError(error).code !== 'database_unavailable') {
      await database.close();
      throw error;
    }
    onFault(error);
  }
  return database;
}
