import type { Config } from '../config/index.ts';
import type { HttpClient } from '../net/http-client.ts';
import { httpClientSlice } from './slices.ts';

/**
 * The one HTTP client, with the rules of the config that holds. It is loaded when it is first needed: it costs as much to
 * load as all the rest of a start, and a daemon whose version is on disk never asks anybody.
 */
export class Network {
  #config: Config;
  #client: Promise<HttpClient> | null = null;

  constructor(config: Config) {
    this.#config = config;
  }

  /** The config whose rules hold now. */
  get config(): Config {
    return this.#config;
  }

  client(): Promise<HttpClient> {
    this.#client ??= import('../net/http-client.ts').then(
      ({ HttpClient }) => new HttpClient(httpClientSlice(this.#config)),
    );
    return this.#client;
  }

  /** Takes a new config's rules. What is under way ends on the client that it began with. */
  useConfig(config: Config): void {
    this.#config = config;
    const former = this.#client;
    this.#client = null;
    if (former === null) return;
    const close = (): void => void former.then((client) => client.close()).catch(() => undefined);
    setTimeout(close, config.network.totalTimeoutMs).unref();
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => null);
    await client?.close();
  }
}
