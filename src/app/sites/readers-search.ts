import { dirname } from 'node:path';
import type { SiteConfig } from '../../config/index.ts';
import type { KeptVersion } from '../../deploy/index.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { FeatureReport } from '../../domain/feature.ts';
import type { ReleaseView } from '../../domain/release.ts';
import { searchRequestOf } from '../../domain/search.ts';
import type { AnswerSiteSearch, SiteSearchSettings } from '../../http/site/site-search.ts';
import {
  type IndexedRelease,
  MountedSearch,
  type Search,
  type SearchResult,
  type SiteSearch,
} from '../../search/index.ts';
import type { SiteSnapshot } from '../../serve/index.ts';
import { decodeOrKeep } from '../../web/index.ts';
import { Work } from '../../web/rules/index.ts';
import type { Logger } from '../log/log.ts';
import { logFailure, logSearchEvent } from '../log/log-events.ts';
import type { Network } from '../network.ts';
import type { OpenedSearch } from '../open-search.ts';
import { ReaderSearch } from '../reader-search.ts';
import { once } from './once.ts';
import type { OpenVersions } from './open-versions.ts';
import type { ReadableVersions } from './readable-versions.ts';
import { VersionSearch } from './version-search.ts';

/** Of the daemon. */
interface SearchHost {
  readonly search: OpenedSearch;
  readonly versions: OpenVersions;
  readonly network: Network;
  readonly log: Logger;
}

interface ReadersSearchOptions {
  readonly host: SearchHost;
  /** Of the active version. */
  readonly active: SiteSearch;
  readonly versions: ReadableVersions;
  /** As it is now. */
  readonly config: () => SiteConfig;
  readonly domain: () => string;
  readonly features: () => FeatureReport;
}

/** What readers of a site search: the hosted service where it is configured, else the version that they name, else the active one. */
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

/** Without the pages that rules with `!` keep from readers: an index has all pages of its release. */
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
      // An answer may hold its own JSON.
      return results.length === answer.results.length
        ? answer
        : { results, ...(answer.facts && { facts: answer.facts }) };
    },
  };
}

/** By the engine here, also where a hosted one answers readers. @throws DocshelfError `search_off`; as `SiteSearch.search` */
export async function explainedSearch(search: SiteSearch | null, query: string): Promise<readonly SearchResult[]> {
  if (search === null)
    throw new DocshelfError('search_off', 'Cannot search: the search engine is off', {
      next: 'Set search.enabled to true.',
    });
  const { results } = await search.search({ ...searchRequestOf({ query }), isExplained: true });
  return results;
}

/** Loaded with the first search: a start needs no validator. */
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
