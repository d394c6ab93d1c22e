/**
 * pages -> sections (`extract`, `read-sections`) -> index (`build-index`: `keyword`, passages) -> query (`release-search`:
 * both legs, `rank`) -> ranked sections
 */
export { EmbeddedEngine, type Model } from './embedded-engine.ts';
export { EmbeddedIndex } from './embedded-index.ts';
export type { IndexedRelease, SearchIndex } from './ports.ts';
export type { ShelfResult } from './query/merge-by-rank.ts';
export {
  jsonOf,
  NO_FACTS,
  PLAIN_FORM,
  type ResultForm,
  type Search,
  type SearchAnswer,
  type SearchFacts,
  type SearchRequest,
  type SearchResult,
} from './request.ts';
export { ShelfSearch } from './shelf-search.ts';
export { type SearchEvent, type SearchStatus, SiteSearch } from './site-search.ts';
