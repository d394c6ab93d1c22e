import type { HttpBindings } from '@hono/node-server';
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import type { DataValidationCxt } from 'ajv/dist/types/index.js';
import { DocshelfError } from '../domain/errors.ts';
import { BODY_BYTES_MAX } from '../domain/limits.ts';
import type { BodyOf, ObjectSchema, Operation, QueryOf } from '../domain/operation.ts';
import { collect } from '../files/index.ts';

/** JSON media types, also with the suffix `+json` (RFC 6839, section 3.1). Parameters are ignored (RFC 8259). */
const JSON_TYPE = /^application\/(?:json|[a-z0-9!#$&^_.+-]+\+json)\s*(?:;|$)/i;

/** Schema of calls without fields. It permits an empty object, because some clients always send a body. */
const EMPTY_SCHEMA = { type: 'object', additionalProperties: false } as const;

const NO_PARAMETERS: ObjectSchema = { type: 'object', properties: {} };

type Bindings = Partial<HttpBindings> | undefined;

export function bodyReader<const Op extends Pick<Operation, 'id' | 'act' | 'body'>>({
  id,
  act,
  body,
}: Op): (request: Request, env: Bindings) => Promise<BodyOf<Op>> {
  if (body === undefined) return () => Promise.reject(new Error(`${id} reads no JSON`));
  if (body === null) {
    const check = requestChecker('read the request', EMPTY_SCHEMA, 'Send no body, or an empty JSON object.');
    return async (request, env) => {
      const text = await readText(request, env);
      if (text === '') return undefined as BodyOf<Op>;
      requireJsonType(request);
      check(parseJson(text));
      return undefined as BodyOf<Op>;
    };
  }
  const check = requestChecker<BodyOf<Op>>(act, body.schema);
  return async (request, env) => check(parseJson(await jsonText(request, env)));
}

/** An empty query parameter counts as absent, because HTML forms send empty fields. */
export function queryReader<const Op extends Pick<Operation, 'act' | 'query'>>(
  operation: Op,
): (parameters: URLSearchParams) => QueryOf<Op> {
  const { act, query = NO_PARAMETERS } = operation;
  const check = requestChecker<QueryOf<Op>>(act, query);
  const known = Object.keys(query.properties);
  return (parameters) => {
    const written: Record<string, string | number> = {};
    for (const [name, text] of parameters) {
      if (!known.includes(name)) throw badField(act, name, `is unknown. The address accepts ${known.join(', ')}`);
      if (parameters.getAll(name).length > 1) throw badField(act, name, 'is present more than once');
      const isInteger = query.properties[name]?.type === 'integer' && /^\d{1,9}$/.test(text);
      if (text !== '') written[name] = isInteger ? Number(text) : text;
    }
    return check(written);
  };
}

/** Compiles the schema at the first request, to save 10 ms at start (measured). @param act text after `Cannot` in errors */
export function requestChecker<Shape>(act: string, schema: object, next?: string): (written: unknown) => Shape {
  let validate: ValidateFunction<Shape> | null = null;
  return (written) => {
    validate ??= compile<Shape>(schema);
    if (validate(written)) return written;
    const error = validate.errors?.[0];
    const field = fieldOf(error);
    throw badField(act, field, field === null ? 'the request must be a JSON object' : stateOf(error), next);
  };
}

function compile<Shape>(schema: object): ValidateFunction<Shape> {
  // Without `strict: false`, Ajv rejects the annotations of docshelf's schemas.
  const ajv = new Ajv({ meta: false, validateSchema: false, strict: false, verbose: true });
  ajv.addKeyword({
    keyword: 'x-trim',
    type: 'string',
    before: 'maxLength',
    modifying: true,
    // Replace lone surrogates, which JSON can contain, but UTF-8 cannot represent.
    validate: (_: boolean, written: string, __?: object, place?: DataValidationCxt) => {
      if (place !== undefined) place.parentData[place.parentDataProperty] = written.trim().toWellFormed();
      return true;
    },
  });
  return ajv.compile<Shape>(schema);
}

export function badField(act: string, name: string | null, state: string, next?: string): DocshelfError {
  const detail = next === undefined ? {} : { next };
  if (name === null) return new DocshelfError('bad_request', `Cannot ${act}: ${state}`, detail);
  // Shorten the field name and replace special characters, because a client controls the name.
  const field = name.slice(0, 64).replace(/[^\x20-\x7e]/g, '?');
  return new DocshelfError('bad_request', `Cannot ${act}: the field "${field}" ${state}`, {
    ...detail,
    fields: { field },
  });
}

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

function stateOf(error: ErrorObject | undefined): string {
  const { keyword, params = {}, parentSchema = {} } = error ?? {};
  switch (keyword) {
    case 'required':
      return 'is missing';
    case 'additionalProperties':
      return 'is unknown';
    case 'type':
      return `must be ${/^[aeiou]/.test(params.type) ? 'an' : 'a'} ${[params.type].flat().join(' or ')}`;
    case 'enum':
      return `must be one of ${params.allowedValues.join(', ')}`;
    case 'pattern':
      return `must be ${parentSchema['x-expects'] ?? `text that matches ${params.pattern}`}`;
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

function requireJsonType(request: Request): void {
  const coding = request.headers.get('content-encoding') ?? 'identity';
  if (!JSON_TYPE.test(request.headers.get('content-type') ?? '') || coding.toLowerCase() !== 'identity') {
    throw new DocshelfError(
      'unsupported_media_type',
      'Cannot read the request: its body is not JSON, or has a Content-Encoding',
      {
        next: 'Send JSON with "Content-Type: application/json" and without a Content-Encoding.',
      },
    );
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw malformed('its body is malformed JSON', error);
  }
}

/** Reads the body of a JSON request. @throws DocshelfError `unsupported_media_type`, `payload_too_large`, `bad_request` */
export async function jsonText(request: Request, env: Bindings): Promise<string> {
  requireJsonType(request);
  return readText(request, env);
}

async function readText(request: Request, env: Bindings): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > BODY_BYTES_MAX) throw tooLarge();
  // Send 100 (Continue), because the client can wait for it before it sends the body (RFC 9110, section 10.1.1).
  if (request.headers.has('expect')) env?.outgoing?.writeContinue();
  // Content-Length limits the body (RFC 9112, section 6.3), so avoid a stream, which would take a fifth of a search's time.
  if (request.headers.has('content-length')) return decode(new Uint8Array(await request.arrayBuffer()));
  const bytes = request.body === null ? Buffer.alloc(0) : await collect(request.body, BODY_BYTES_MAX);
  if (bytes === null) throw tooLarge();
  return decode(bytes);
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw malformed('its body is not UTF-8', error);
  }
}

function tooLarge(): DocshelfError {
  return new DocshelfError('payload_too_large', 'Cannot read the request: its body is larger than 64 KiB', {
    fields: { bytesMax: BODY_BYTES_MAX },
  });
}

function malformed(state: string, cause: unknown): DocshelfError {
  return new DocshelfError('bad_request', `Cannot read the request: ${state}`, { cause });
}
