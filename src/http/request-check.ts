import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { DocshelfError } from '../domain/errors.ts';

/**
 * What came as JSON, as its schema says it.
 *
 * @param names what the client calls a field, where that is another name than the schema's
 * @throws DocshelfError `bad_request`, naming the field.
 */
export type CheckRequest<Written> = (written: unknown, names?: ReadonlyMap<string, string>) => Written;

/**
 * Checks requests by a schema. It is compiled once, with the first request: that takes 10 ms that a start has no use for
 * (measured).
 *
 * @param act what cannot be done with a faulty request: `search`
 * @param patterns what a field whose text has a pattern must be, by field; `paths[]` for the entries of `paths`
 */
export function requestChecker<Written>(
  act: string,
  schema: object,
  patterns: Readonly<Record<string, string>> = {},
): CheckRequest<Written> {
  let check: ValidateFunction<Written> | null = null;
  return (written, names = new Map()) => {
    check ??= new Ajv({ meta: false, validateSchema: false }).compile<Written>(schema);
    if (check(written)) return written;
    const error = check.errors?.[0];
    const field = fieldOf(error);
    if (field === null) throw badField(act, null, 'the request must be a JSON object');
    throw badField(act, names.get(field) ?? field, stateOf(error, patterns[field.replace(/\[\d+\]/g, '[]')]));
  };
}

/** A field that a request may not have, or not with this value. */
export function badField(act: string, name: string | null, state: string): DocshelfError {
  if (name === null) return new DocshelfError('bad_request', `Cannot ${act}: ${state}`);
  const field = shown(name);
  return new DocshelfError('bad_request', `Cannot ${act}: the field "${field}" ${state}`, { fields: { field } });
}

/** `filter.tag`, `paths[3]`; null: the request as a whole. */
function fieldOf(error: ErrorObject | undefined): string | null {
  const { params = {}, instancePath = '' } = error ?? {};
  const parent = instancePath
    .slice(1)
    .replace(/\/(\d+)(?=\/|$)/g, '[$1]')
    .replaceAll('/', '.');
  const child = params.missingProperty ?? params.additionalProperty;
  const field = [parent, child === undefined ? '' : String(child)].filter((part) => part !== '').join('.');
  return field === '' ? null : field;
}

function stateOf(error: ErrorObject | undefined, pattern: string | undefined): string {
  const { keyword, params = {} } = error ?? {};
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return 'is not known';
    case 'type':
      return `must be ${/^[aeiou]/.test(params.type) ? 'an' : 'a'} ${params.type}`;
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`;
    case 'pattern':
      return `must be ${pattern ?? `as ${params.pattern} says`}`;
    case 'minLength':
    case 'minItems':
      return 'is empty';
    case 'maxLength':
      return `has more than ${params.limit} characters`;
    case 'maxItems':
      return `has more than ${params.limit} entries`;
    default:
      return `must be ${params.comparison === '>=' ? 'at least' : 'at most'} ${params.limit}`;
  }
}

/** A name that a stranger wrote: short, and without what could garble a line of a log. */
function shown(name: string): string {
  return name.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
}
