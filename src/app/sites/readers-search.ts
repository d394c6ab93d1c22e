import { dirname } from 'node:path';
import type { Config, SiteConfig } from '../../config/index.ts';
import type { KeptVersion } from '../../deploy/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { FeatureReport } from '../../domain/feature.ts';
import { type ReleaseView, VERSION_ADDRESSES } from '../../domain/release.ts';
import { searchRequestOf } from '../../domain/search.ts';
import type { AnswerSiteSearch, SiteSearchSettings } from '../../http/site/site-search.ts';
import {
  type IndexedRelease,
  MountedSearch,
  type Search,
  type SearchAnswer,
  type SearchRequest,
  type SearchResult,
  type SiteSearch,
} from '../../search/index.ts';
import type { SiteSnapshot } from '../../serve/index.ts';
import { decodeOrKeep } from '../../web/index.ts';
import { Work } from '../../web/rules/index.ts';
import type { Logger } from '../log/log.ts';
import { logFailure, logSearchEvent } from '../log/log-events.ts';
import type { Network } from '../network.ts';
import { once } from '../once.ts';
import type { OpenedSearch } from '../open-search.ts';
import type { OpenVersions, ReadableVersions } from './readable-versions.ts';

interface VersionSearchOptions {
  /** Search of the active version. */
  readonly active: Search;
  /** Null if the version is active, or readers may not search it. */
  readonly find: (version: string) => Promise<KeptVersion | null>;
  readonly open: (kept: KeptVersion) => Search;
}

/** The release that `filter.version` names, whole; the active one for every other word (contract, section 5). */
export class VersionSearch implements Search {
  readonly #options: VersionSearchOptions;

  constructor(options: VersionSearchOptions) {
    this.#options = options;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    const { active, find, open } = this.#options;
    const { filter } = request;
    const kept = filter.version === null ? null : await find(filter.version);
    if (kept === null) return active.search(request, signal);
    // Versions in the metadata of its pages are words of the site.
    const answer = await open(kept).search({ ...request, filter: { ...filter, version: null } }, signal);
    const root = VERSION_ADDRESSES + kept.version;
    const results = answer.results.map(({ content, path, metadata }) => {
      return { content, path: root + path, metadata: { ...metadata, version: metadata.version ?? kept.version } };
    });
    return { results, ...(answer.facts && { facts: answer.facts }) };
  }
}

interface ReaderSearchOptions {
  readonly local: Search;
  readonly config: () => Config;
  readonly features: () => FeatureReport;
  readonly network: Network;
  readonly onFault: (error: DocshelfError) => void;
}

/** The hosted service if config and feature report allow it (never behind an air gap), with the engine as a fallback. */
class ReaderSearch implements Search {
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
    const { HostedSearch } = await import('../../search/hosted/hosted-search.ts');
    return new HostedSearch({
      client: await network.client(),
      settings: { discoveryUrl, key: keyFile.text, domain },
      local,
      onFault,
    });
  }
}

/** Parts of the daemon. */
interface SearchHost {
  readonly search: OpenedSearch;
  readonly versions: OpenVersions;
  readonly network: Network;
  readonly log: Logger;
}

interface ReadersSearchOptions {
  readonly host: SearchHost;
  /** Search of the active version. */
  readonly active: SiteSearch;
  readonly versions: ReadableVersions;
  /** The current config. */
  readonly config: () => SiteConfig;
  readonly domain: () => string;
  readonly features: () => FeatureReport;
}

/** Search of readers: by the hosted service if it is configured, else in the version that they name, else in the active one. */
export function readersSearch({ host, active, versions, config, domain, features }: ReadersSearchOptions): Search {
  const { search, network, log } = host;
  const open = (kept: KeptVersion): Search => {
    const key = JSON.stringify([domain(), kept.version, kept.digest]);
    return host.versions.search(key, () => {
      const made = search.site(config().config.search, (event) => logSearchEvent(log, event));
      made?.follow(indexedRelease(kept), kept.version);
      return made ?? active;
    });
  };
  const local = new VersionSearch({
    active: openPagesOf(active, () => versions.at(null)),
    find: (version) => versions.searched(version),
    open: (kept) =>
      openPagesOf(open(kept), async () => (await versions.at(kept.version).catch(() => null)) ?? versions.at(null)),
  });
  const onFault = (error: unknown): void => logFailure(log, 'search', error);
  const reader = new ReaderSearch({ local, config: () => config().config, features, network, onFault });
  return new MountedSearch(reader, () => config().basePath);
}

/** Removes pages that rules with `!` hide from readers: an index has all pages of its release. */
function openPagesOf(search: Search, snapshot: () => Promise<SiteSnapshot | null>): Search {
  return {
    search: async (request, signal) => {
      const answer = await search.search(request, signal);
      const pages = (await snapshot())?.pages;
      if (pages === undefined) return answer;
      const work = new Work();
      const results = answer.results.filter(({ path }) =>
        pages.leadsOn(decodeOrKeep(path.slice(1).replace(/[?#].*$/s, '')), work),
      );
      // An unchanged result may carry its JSON.
      return results.length === answer.results.length
        ? answer
        : { results, ...(answer.facts && { facts: answer.facts }) };
    },
  };
}

/** Uses the engine of this daemon, even if readers use a hosted one. @throws DocshelfError `search_off`; as `SiteSearch.search` */
export async function explainedSearch(search: SiteSearch | null, query: string): Promise<readonly SearchResult[]> {
  if (search === null)
    throw new DocshelfError('search_off', 'Cannot search: the search engine is off', {
      next: 'Set search.enabled to true.',
    });
  const { results } = await search.search({ ...searchRequestOf({ query }), isExplained: true });
  return results;
}

/** The first search loads the code: a start needs no validator. */
export function searchAnswer(settings: SiteSearchSettings): AnswerSiteSearch {
  const answer = once(async () => {
    const { siteSearch } = await import('../../http/site/site-search.ts');
    return siteSearch(settings);
  });
  return async (request, env) => (await answer())(request, env);
}

export function indexedRelease({
  digest,
  siteDir,
  trailingSlash,
}: Pick<ReleaseView, 'digest' | 'siteDir' | 'trailingSlash'>): IndexedRelease {
  return { digest, releaseDir: dirname(siteDir), trailingSlash };
}
