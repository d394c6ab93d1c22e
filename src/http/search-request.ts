import type { SearchRequest } from '../search/index.ts';
import { requestChecker } from './request-check.ts';
import { PAGE_SIZE_DEFAULT, searchRequestSchema, type WrittenSearchRequest } from './search-schema.ts';

/**
 * What came as JSON, as a search request.
 *
 * @param names what the client calls a field, where that is another name than the schema's
 * @throws DocshelfError `bad_request`, naming the field.
 */
export type ParseSearchRequest = (written: unknown, names?: ReadonlyMap<string, string>) => SearchRequest;

export function searchRequestParser(): ParseSearchRequest {
  const check = requestChecker<WrittenSearchRequest>('search', searchRequestSchema);
  return (given, names) => {
    const written = check(withTrimmedQuery(given), names);
    const { query, pageSize = PAGE_SIZE_DEFAULT, scoreThreshold = null, filter = {} } = written;
    return {
      query,
      pageSize,
      scoreThreshold,
      filter: { version: filter.version ?? null, language: filter.language ?? null, tag: filter.tag ?? null },
      prefixLast: false,
    };
  };
}

/**
 * The bounds hold for the trimmed query. Half a surrogate pair, which JSON can write and UTF-8 cannot, becomes the
 * replacement character: nothing behind this needs to know of such.
 */
function withTrimmedQuery(written: unknown): unknown {
  const query = (written as { query?: unknown } | null)?.query;
  return typeof query === 'string' ? { ...(written as object), query: query.trim().toWellFormed() } : written;
}
