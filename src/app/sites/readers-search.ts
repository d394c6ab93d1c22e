import type { Config } from '../../config/index.ts';
import type { KeptVersion } from '../../deploy/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { VERSION_ADDRESSES } from '../../domain/release.ts';
import { searchRequestOf } from '../../domain/search.ts';
import type { SiteMetrics } from '../../http/metrics/metrics.ts';
import type { HostedSearch } from '../../search/hosted-search.ts';
import {
  NO_FACTS,
  type ResultForm,
  readAnswer,
  type Search,
  type SearchAnswer,
  type SearchRequest,
  type SearchResult,
  type SiteSearch,
  writeAnswer,
} from '../../search/index.ts';
import type { SiteSnapshot, SiteState } from '../../site/index.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { Work } from '../../web/rules/index.ts';
import type { Logger } from '../log/log.ts';
import { logFailure, logSearchEvent } from '../log/log-events.ts';
import type { Network } from '../network.ts';
import type { OpenedSearch } from '../open-search.ts';
import { featureReport } from '../slices.ts';
import type { OpenVersions, ReadableVersions } from './readable-versions.ts';
import type { ServedSettings } from './site-form.ts';

interface ReaderSearchOptions {
  readonly host: {
    readonly search: OpenedSearch;
    readonly versions: OpenVersions;
    readonly network: Network;
    readonly log: Logger;
    readonly metrics: Pick<SiteMetrics, 'onSearch'>;
  };
  readonly active: SiteSearch;
  readonly versions: ReadableVersions;
  readonly site: { readonly state: SiteState<Pick<ServedSettings, 'config'>> };
  readonly store: { readonly domain: string };
}

/** Searches with the hosted service if one is configured and responds, or else locally in the requested or the active version. */
export class ReaderSearch implements Search {
  readonly #options: ReaderSearchOptions;
  #hosted: { readonly config: Config; readonly search: Promise<HostedSearch | null> } | null = null;

  constructor(options: ReaderSearchOptions) {
    this.#options = options;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    const { log, metrics } = this.#options.host;
    const startedMs = performance.now();
    const report = (result: 'found' | 'none' | 'failed', isCorrected = false): void => {
      const seconds = (performance.now() - startedMs) / 1000;
      metrics.onSearch({ result, isCorrected, seconds });
      if (!this.#options.site.state.settings.config.config.log.queries) return;
      log.info(
        { event: 'search', query: request.query, result, seconds },
        `searched for ${JSON.stringify(request.query)}`,
      );
    };
    try {
      const answer = await this.#search(request, signal);
      report(answer.count === 0 ? 'none' : 'found', answer.isCorrected);
      return answer;
    } catch (error) {
      if (!signal.aborted) report('failed');
      throw error;
    }
  }

  async #search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    const { config, basePath } = this.#options.site.state.settings.config;
    const root = basePath.slice(0, -1);
    if (this.#hosted?.config !== config) this.#hosted = { config, search: this.#openHosted(config) };
    const hosted = await this.#hosted.search;
    if (hosted === null) return this.#searchHere(request, { root, version: null, source: null });
    const found = await hosted.search(request, signal);
    const results = found?.map((each) => (each.path.startsWith('/') ? { ...each, path: root + each.path } : each));
    const facts = request.wantsFacts ? NO_FACTS : undefined;
    if (results !== undefined) return writeAnswer(results, facts);
    const local = await this.#searchHere({ ...request, wantsFacts: false }, { root, version: null, source: 'local' });
    // Return no `facts` (data about the query) even if the local search replaced the hosted service, which never returns `facts`.
    return facts === undefined ? local : writeAnswer(readAnswer(local).results, facts);
  }

  async #searchHere(request: SearchRequest, form: ResultForm): Promise<SearchAnswer> {
    const { active, versions, site } = this.#options;
    const { version } = request.filter;
    const kept = version === null ? null : await versions.searched(version);
    if (kept === null) return openPagesOf(await active.search(request, form), form, site.state.version?.snapshot);
    const own = atKeptVersion(request, form, kept.version);
    const answer = await this.#searchOf(kept).search(own.request, own.form);
    const snapshot = await versions.at(kept.version).catch(() => null);
    return openPagesOf(answer, own.form, snapshot ?? site.state.version?.snapshot);
  }

  #searchOf(kept: KeptVersion): SiteSearch {
    const { host, active, site, store } = this.#options;
    const key = JSON.stringify([store.domain, kept.version, kept.digest]);
    return host.versions.search(key, () => {
      const made = host.search.site(site.state.settings.config.config.search, (event) =>
        logSearchEvent(host.log, event),
      );
      made?.switchTo(kept, kept.version);
      return made ?? active;
    });
  }

  /** Null if the config or the deployment type does not allow a hosted search. An air-gapped deployment never allows it. */
  async #openHosted(config: Config): Promise<HostedSearch | null> {
    const { network, log } = this.#options.host;
    const { domain, features } = featureReport(config, this.#options.store.domain);
    const { discoveryUrl, keyFile } = config.features.search;
    const isOn = features.some(({ id, enabled }) => id === 'search' && enabled);
    if (!isOn || discoveryUrl === null || keyFile === null) return null;
    const { HostedSearch: Hosted } = await import('../../search/hosted-search.ts');
    return new Hosted({
      client: await network.client(),
      settings: { discoveryUrl, key: keyFile.text, domain },
      onFault: (error) => logFailure(log, 'search', error),
    });
  }
}

/**
 * Prepares a search in one stored version. Removes the version filter, because pages of this version can name another version
 * label or none.
 */
export function atKeptVersion(request: SearchRequest, form: ResultForm, version: string) {
  return {
    request: { ...request, filter: { ...request.filter, version: null } },
    form: { ...form, root: form.root + VERSION_ADDRESSES + version, version },
  };
}

/** Removes search results for pages that redirect rules with `!` hide from readers, because the index contains all pages. */
function openPagesOf(answer: SearchAnswer, { root }: ResultForm, snapshot: SiteSnapshot | undefined): SearchAnswer {
  // Apply the redirect rules in this thread, because the search thread does not have the file table.
  if (snapshot?.pages.hasForcedRules !== true) return answer;
  const work = new Work();
  const { results, facts } = readAnswer(answer);
  const open = results.filter(({ path }) =>
    snapshot.pages.isReachable(decodeOrKeep(path.slice(root.length + 1).replace(/[?#].*$/s, '')), work),
  );
  return open.length === results.length ? answer : writeAnswer(open, facts);
}

/**
 * Searches, and explains the score of each result. Uses the local engine, even if a hosted service serves readers.
 * @throws DocshelfError `search_off`, and the errors of `SiteSearch`
 */
export async function explainedSearch(search: SiteSearch | null, query: string): Promise<readonly SearchResult[]> {
  if (search === null)
    throw new DocshelfError('search_off', 'Cannot search: the search engine is off', {
      next: 'Set search.enabled to true.',
    });
  const answer = await search.search({ ...searchRequestOf({ query }), isExplained: true });
  return readAnswer(answer).results;
}
