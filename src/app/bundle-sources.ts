import type { HttpClient } from '../adapters/http-client.ts';
import type { Config } from '../config/index.ts';
import type { BundleSource } from '../deploy/ports.ts';
import { httpClientSlice } from './slices.ts';

/**
 * The bundle sources of the config that holds. The HTTP client is loaded with the first fetch: it costs as much to load as
 * all the rest of a start, and a daemon whose version is on disk never fetches.
 */
export class BundleSources {
  #config: Config;
  #client: HttpClient | null = null;

  constructor(config: Config) {
    this.#config = config;
  }

  async open(): Promise<readonly BundleSource[]> {
    const [{ HttpClient }, { HttpBundleSource }, { FileBundleSource }] = await Promise.all([
      import('../adapters/http-client.ts'),
      import('../adapters/http-bundle-source.ts'),
      import('../adapters/file-bundle-source.ts'),
    ]);
    this.#client ??= new HttpClient(httpClientSlice(this.#config));
    return [new FileBundleSource(), new HttpBundleSource(this.#client)];
  }

  /** Takes a new config's rules of fetching. A download under way ends on the client that it began with. */
  useConfig(config: Config): void {
    this.#config = config;
    const former = this.#client;
    this.#client = null;
    if (former !== null) setTimeout(() => void former.close(), config.network.totalTimeoutMs).unref();
  }

  async close(): Promise<void> {
    await this.#client?.close();
  }
}
