import type { Config } from '../config/index.ts';
import type { HttpClient } from '../net/http-client.ts';
import { httpClientSlice } from './slices.ts';

/** The HTTP client with the config's rules. Loaded on demand: it costs as much as the rest of a start. */
export class Network {
  #config: Config;
  #client: Promise<HttpClient> | null = null;

  constructor(config: Config) {
    this.#config = config;
  }

  get config(): Config {
    return this.#config;
  }

  client(): Promise<HttpClient> {
    this.#client ??= import('../net/http-client.ts').then(
      ({ HttpClient }) => new HttpClient(httpClientSlice(this.#config)),
    );
    return this.#client;
  }

  /** Requests in flight end on the former client. */
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
