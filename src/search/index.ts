/**
 * pages -> sections (`extract`, `read-pages`) -> index (`build-index`: `keyword`, passages) -> query (`release-search`:
 * both legs, `rank`) -> ranked sections
 */
export { EmbeddedIndex, type Model } from './embedded-index.ts';
export type { IndexedRelease, SearchIndex } from './ports.ts';
export { jsonOf, type Search, type SearchAnswer, type SearchRequest, type SearchResult } from './request.ts';
export { type SearchEvent, type SearchStatus, SiteSearch } from './site-search.ts';
