import type { SearchRequest } from '../../search/index.ts';
import { badField } from '../request-check.ts';
import type { ParseSearchRequest } from '../search-request.ts';

/** The parameters of `GET /_docshelf/search`, by the fields of the API's request that they are. */
const PARAMETERS: ReadonlyMap<string, string> = new Map([
  ['query', 'q'],
  ['pageSize', 'limit'],
  ['filter.language', 'language'],
]);

/**
 * The query of a search as you type, under the same bounds as the API's request.
 *
 * @throws DocshelfError `bad_request`, naming the parameter.
 */
export function parseSearchQuery(parameters: URLSearchParams, parse: ParseSearchRequest): SearchRequest {
  const known = [...PARAMETERS.values()];
  for (const name of parameters.keys()) {
    if (!known.includes(name)) {
      throw badField('search', null, `the address has a parameter that is not known; it takes ${known.join(', ')}`);
    }
    if (parameters.getAll(name).length > 1) throw badField('search', name, 'is there more than once');
  }
  const limit = parameters.get('limit');
  // An empty field of a form says nothing.
  const language = parameters.get('language') || null;
  if (limit !== null && !/^\d{1,9}$/.test(limit)) throw badField('search', 'limit', 'must be an integer');
  const written = {
    query: parameters.get('q') ?? '',
    ...(limit === null ? {} : { pageSize: Number(limit) }),
    ...(language === null ? {} : { filter: { language } }),
  };
  const request = parse(written, PARAMETERS);
  return { ...request, prefixLast: true };
}
