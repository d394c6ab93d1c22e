/**
 * pages -> sections (`extract`, `read-pages`) -> index (`build-index`: `keyword`, passages) -> query (`release-search`:
 * both legs, `rank`) -> ranked sections
 */
export { EmbeddedIndex, type EmbeddedIndexOptions, type Model } from './embedded-index.ts';
export type { ModelChoice } from './orders.ts';
export type { Embedder, IndexedRelease, SearchIndex } from './ports.ts';
export { jsonOf, type Search, type SearchAnswer, type SearchRequest, type SearchResult } from './request.ts';
export { type LegState, type SearchEvent, type SearchStatus, SiteSearch } from './site-search.ts';
