/**
 * pages -> sections (`extract`, `read-sections`) -> index (`build-index`: `keyword`, passages) -> query (`release-search`:
 * both legs, `rank`) -> ranked sections
 */
export { EmbeddedEngine, EmbeddedIndex, type Model, type SearchIndex } from './embedded-engine.ts';
export type { IndexedRelease } from './ports.ts';
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
export type { ShelfResult } from './shelf-search.ts';
export { ShelfSearch } from './shelf-search.ts';
export { type SearchEvent, type SearchStatus, SiteSearch } from './site-search.ts';
