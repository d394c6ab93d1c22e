/**
 * Index: pages -> sections (`indexing/read-sections`) -> SQLite (`keyword/index-writer`) and vectors (`semantic/embed-release`).
 * Query: `SiteSearch` -> `EmbeddedEngine` -> thread (`query/query-thread`) -> `query/release-search`: keywords
 * (`keyword/keyword-index`), meaning (`semantic/vector-index`), one score (`query/rank`), excerpts (`query/excerpts`).
 */
export { EmbeddedEngine, type Model, type SearchIndex } from './embedded-engine.ts';
export { searchDirOf } from './indexing/index-builds.ts';
export type { IndexedRelease } from './ports.ts';
export {
  NO_FACTS,
  PLAIN_FORM,
  type ResultForm,
  readAnswer,
  type Search,
  type SearchAnswer,
  type SearchFacts,
  type SearchRequest,
  type SearchResult,
  writeAnswer,
} from './request.ts';
export { type ShelfResult, ShelfSearch } from './shelf-search.ts';
export { type SearchEvent, type SearchStatus, SiteSearch } from './site-search.ts';
