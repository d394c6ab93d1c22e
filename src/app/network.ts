import type { Config } from '../config/index.ts';
import type { Database } from '../database/database.ts';
import { parseDatabaseUrl } from '../domain/database-address.ts';
import type { EgressRules } from '../domain/egress.ts';
import { DocshelfError, toDocshelfError } from '../domain/errors.ts';
import type { EgressPolicy } from '../net/egress.ts';
import type { HttpClient } from '../net/http-client.ts';
import { egressSlice } from './slices.ts';

/** Egress policy and HTTP client of docshelf. Loads both only when needed, because loading them would double the time of a start. */
export class Network {
  readonly #config: () => Config;
  #ownPorts: readonly number[] = [];
  #opened: { readonly of: Config; readonly client: Promise<HttpClient> } | null = null;

  /** @param config function that returns the current config, which a reload replaces */
  constructor(config: () => Config) {
    this.#config = config;
  }

  get config(): Config {
    return this.#config();
  }

  get rules(): EgressRules {
    return egressSlice(this.config, this.#ownPorts);
  }

  async policy(): Promise<EgressPolicy> {
    const { EgressPolicy } = await import('../net/egress.ts');
    return new EgressPolicy(() => this.rules);
  }

  /** Opens the HTTP client again after a reload. Requests that are in progress continue with the former client. */
  client(): Promise<HttpClient> {
    const { config } = this;
    const former = this.#opened;
    if (former?.of === config) return former.client;
    const close = (): void => void former?.client.then((client) => client.close()).catch(() => undefined);
    if (former !== null) setTimeout(close, config.network.totalTimeoutMs).unref();
    this.#opened = { of: config, client: this.#open(config) };
    return this.#opened.client;
  }

  useOwnPorts(ports: readonly number[]): void {
    this.#ownPorts = ports;
  }

  async close(): Promise<void> {
    const client = await this.#opened?.client.catch(() => null);
    await client?.close();
  }

  async #open({ network: { totalTimeoutMs, redirectsMax } }: Config): Promise<HttpClient> {
    const [policy, { HttpClient }] = await Promise.all([this.policy(), import('../net/http-client.ts')]);
    return new HttpClient(policy, { totalTimeoutMs, redirectsMax });
  }
}

/** Opens the database. If the database server is unreachable, docshelf still starts. @throws DocshelfError `database_unfit` */
export async function openDatabase(
  config: Config,
  network: Network,
  onFault: (error: unknown) => void,
): Promise<Database | null> {
  const database = await connectDatabase(config, network);
  try {
    await database?.bringUp();
  } catch (error) {
    if (toDocshelfError(error).code !== 'database_unavailable') {
      await database?.close();
      throw error;
    }
    onFault(error);
  }
  return database;
}

/** Returns a database that connects only for its first statement. Null if no database is configured. */
export async function connectDatabase(config: Config, network: Network): Promise<Database | null> {
  if (config.database.urlFile === null) return null;
  const [{ Database }, { openPostgresPool }] = await Promise.all([
    import('../database/database.ts'),
    import('../net/postgres.ts'),
  ]);
  const policy = (await network.policy()).forStore(() => network.config.database.caFile);
  const address = () => {
    // If a reload removed `database.urlFile`, use the address from the start of the daemon until it restarts.
    const { urlFile } = network.config.database.urlFile === null ? config.database : network.config.database;
    const found = parseDatabaseUrl(urlFile?.text.reveal() ?? '');
    if (found !== null) return found;
    throw new DocshelfError('config_invalid', 'Cannot use the database: database.urlFile contains no database URL');
  };
  return new Database(openPostgresPool(policy, address, 'database.caFile'));
}
