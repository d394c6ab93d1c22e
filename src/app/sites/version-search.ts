import type { KeptVersion } from '../../deploy/index.ts';
import { VERSION_ADDRESSES } from '../../domain/release.ts';
import type { Search, SearchAnswer, SearchRequest } from '../../search/index.ts';

interface VersionSearchOptions {
  /** Of the active version. */
  readonly active: Search;
  /** Null for what is no version beside it, that readers may read. */
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
    // What its pages say of their versions is a word of the site's own.
    const answer = await open(kept).search({ ...request, filter: { ...filter, version: null } }, signal);
    const root = VERSION_ADDRESSES + kept.version;
    const results = answer.results.map(({ content, path, metadata }) => {
      return { content, path: root + path, metadata: { ...metadata, version: metadata.version ?? kept.version } };
    });
    return { results, ...(answer.facts && { facts: answer.facts }) };
  }
}
