import type { Config } from '../config/index.ts';
import type { DocshelfError } from '../domain/errors.ts';
import type { FeatureReport } from '../domain/feature.ts';
import type { Search, SearchAnswer, SearchRequest } from '../search/index.ts';
import type { Network } from './network.ts';

interface ReaderSearchOptions {
  readonly local: Search;
  readonly config: () => Config;
  readonly features: () => FeatureReport;
  readonly network: Network;
  readonly onFault: (error: DocshelfError) => void;
}

/** The hosted service where config and feature report (never behind an air gap) allow it, and behind it the engine. */
export class ReaderSearch implements Search {
  readonly #options: ReaderSearchOptions;
  #hosted: { readonly config: Config; readonly search: Promise<Search> } | null = null;

  constructor(options: ReaderSearchOptions) {
    this.#options = options;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    const { local, features } = this.#options;
    const report = features();
    const isHosted = report.features.some(({ id, enabled }) => id === 'search' && enabled);
    const engine = isHosted ? await this.#hostedSearch(report.domain) : local;
    return engine.search(request, signal);
  }

  #hostedSearch(domain: string): Promise<Search> {
    const config = this.#options.config();
    if (this.#hosted?.config !== config) this.#hosted = { config, search: this.#open(config, domain) };
    return this.#hosted.search;
  }

  async #open(config: Config, domain: string): Promise<Search> {
    const { local, network, onFault } = this.#options;
    const { discoveryUrl, keyFile } = config.features.search;
    if (discoveryUrl === null || keyFile === null) return local;
    const { HostedSearch } = await import('../search/hosted/hosted-search.ts');
    return new HostedSearch({
      client: await network.client(),
      settings: { discoveryUrl, key: keyFile.text, domain },
      local,
      onFault,
    });
  }
}
