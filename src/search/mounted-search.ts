import type { Search, SearchAnswer, SearchRequest } from './request.ts';

/** Paths as they are on the site's hosts: below its base path. */
export class MountedSearch implements Search {
  readonly #search: Search;
  readonly #basePath: () => string;

  /** @param basePath as it is now, with its last slash */
  constructor(search: Search, basePath: () => string) {
    this.#search = search;
    this.#basePath = basePath;
  }

  async search(request: SearchRequest, signal: AbortSignal): Promise<SearchAnswer> {
    const answer = await this.#search.search(request, signal);
    const basePath = this.#basePath();
    if (basePath === '/') return answer;
    const results = answer.results.map((result) => {
      // A hosted search may name whole addresses.
      return result.path.startsWith('/') ? { ...result, path: basePath + result.path.slice(1) } : result;
    });
    return { results, ...(answer.facts && { facts: answer.facts }) };
  }
}
