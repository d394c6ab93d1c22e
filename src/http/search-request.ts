import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { DocshelfError } from '../domain/errors.ts';
import type { SearchRequest } from '../search/index.ts';
import { PAGE_SIZE_DEFAULT, searchRequestSchema, type WrittenSearchRequest } from './search-schema.ts';

/**
 * What came as JSON, as a search request.
 *
 * @param names what the client calls a field, where that is another name than the schema's
 * @throws DocshelfError `bad_request`, naming the field.
 */
export type ParseSearchRequest = (written: unknown, names?: ReadonlyMap<string, string>) => SearchRequest;

/** Compiles the schema once, with the first request: it takes 10 ms that a start has no use for (measured). */
export function searchRequestParser(): ParseSearchRequest {
  let check: ValidateFunction<WrittenSearchRequest> | null = null;
  return (given, names = new Map()) => {
    const written = withTrimmedQuery(given);
    check ??= new Ajv({ meta: false, validateSchema: false }).compile<WrittenSearchRequest>(searchRequestSchema);
    if (!check(written)) throw faultOf(check.errors?.[0], names);
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

/** The first fault that the check found, in words that name the field. */
function faultOf(error: ErrorObject | undefined, names: ReadonlyMap<string, string>): DocshelfError {
  const { keyword, params = {}, instancePath = '' } = error ?? {};
  const parent = instancePath.slice(1).replaceAll('/', '.');
  const child = params.missingProperty ?? params.additionalProperty;
  const field = [parent, child === undefined ? '' : shown(String(child))].filter((part) => part !== '').join('.');
  if (field === '') return badField(null, 'the request must be a JSON object');
  return badField(names.get(field) ?? field, stateOf(keyword, params));
}

/** A field that a request may not have, or not with this value. */
export function badField(field: string | null, state: string): DocshelfError {
  const message = field === null ? `Cannot search: ${state}` : `Cannot search: the field "${field}" ${state}`;
  return new DocshelfError('bad_request', message, field === null ? {} : { fields: { field } });
}

function stateOf(keyword: string | undefined, params: Record<string, unknown>): string {
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return 'is not known';
    case 'type':
      return `must be ${params.type === 'integer' || params.type === 'object' ? 'an' : 'a'} ${params.type}`;
    case 'minLength':
      return 'is empty';
    case 'maxLength':
      return `has more than ${params.limit} characters`;
    default:
      return `must be ${params.comparison === '>=' ? 'at least' : 'at most'} ${params.limit}`;
  }
}

/** A name that a stranger wrote: short, and without what could garble a line of a log. */
function shown(name: string): string {
  return name.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
}
