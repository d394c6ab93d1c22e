import { DocshelfError, problemSchema, statusOf } from '../domain/errors.ts';
import type { Described, Fault, Operation, OperationAnswer } from '../domain/operation.ts';
import { problemOf } from './problem.ts';

interface OpenApiInfo {
  readonly title: string;
  readonly description: string;
  readonly programVersion: string;
  /** URL of the server that clients contact. Null if clients must use the server from which they got the document. */
  readonly publicUrl: string | null;
}

const REQUEST_ID = {
  'X-Request-Id': {
    description: 'ID of the request, also in the log line of an error. docshelf keeps an ID that the client sends.',
    schema: { type: 'string' },
  },
};

export const RETRY_AFTER = {
  'Retry-After': { description: 'Seconds to wait before the next request.', schema: { type: 'integer', minimum: 1 } },
};

const CHALLENGE = { 'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { const: 'Bearer' } } };

const UNREADABLE_BODY: readonly Fault[] = [
  {
    code: 'payload_too_large',
    description: 'The body is larger than 64 KiB.',
    message: 'Cannot read the request: its body is larger than 64 KiB',
  },
  {
    code: 'unsupported_media_type',
    description: 'The body is not JSON.',
    message: 'Cannot read the request: its body is not JSON, or has a Content-Encoding',
  },
];

export type OpenApiDocument = ReturnType<typeof openApiDocument>;

export function openApiDocument(operations: readonly Operation[], info: OpenApiInfo) {
  const { title, description, programVersion, publicUrl } = info;
  const schemas: Record<string, object> = {};
  const paths: Record<string, Record<string, ReturnType<typeof describe>>> = {};
  for (const operation of operations) {
    const method = operation.method.toLowerCase();
    paths[operation.path] = { ...paths[operation.path], [method]: describe(operation, schemas) };
  }
  const schemes = operations.flatMap(({ security }) => (security === null ? [] : [security]));
  return {
    openapi: '3.1.1',
    info: { title, version: programVersion, description, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: publicUrl ?? '/' }],
    tags: [...new Set(operations.map(({ tag }) => tag))],
    paths,
    components: {
      securitySchemes: Object.fromEntries(
        schemes.map((scheme) => [scheme.name, { type: 'http', scheme: 'bearer', description: scheme.description }]),
      ),
      schemas,
    },
  };
}

/** Describes an operation in OpenAPI. Members with the value undefined do not appear in the JSON document. */
function describe(operation: Operation, schemas: Record<string, object>) {
  const { id, tag, security, summary, description, headers = {} } = operation;
  const parameters = parametersOf(operation);
  const answers = Object.entries(operation.answers).map(
    ([status, answer]) => [status, describeAnswer(answer, headers, schemas)] as const,
  );
  return {
    operationId: id,
    tags: [tag.name],
    security: security === null ? undefined : [{ [security.name]: [] }],
    summary,
    description,
    parameters: parameters.length === 0 ? undefined : parameters,
    requestBody: requestBodyOf(operation, schemas),
    responses: Object.fromEntries([...answers, ...faultsOf(operation, schemas)]),
  };
}

interface Parameter extends Partial<Described> {
  readonly name: string;
  readonly in: 'path' | 'query';
  readonly required: boolean;
}

function parametersOf({ parameters = {}, query }: Operation): readonly Parameter[] {
  const inPath = Object.entries(parameters).map(
    ([name, rest]) => ({ name, in: 'path', required: true, ...rest }) as const,
  );
  const inQuery = Object.entries(query?.properties ?? {}).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query' as const,
    required: query?.required?.includes(name) ?? false,
    ...(description === undefined ? {} : { description }),
    schema: withoutHints(schema),
  }));
  return [...inPath, ...inQuery];
}

function requestBodyOf({ body, upload }: Operation, schemas: Record<string, object>) {
  if (upload !== undefined) return { required: true, description: upload.description, content: { [upload.type]: {} } };
  if (body === undefined || body === null) return undefined;
  return { required: true, description: 'At most 64 KiB.', content: jsonContent(body.schema, body.examples, schemas) };
}

function describeAnswer(answer: OperationAnswer, headers: object, schemas: Record<string, object>): DescribedAnswer {
  const { description, schema, examples = {}, type } = answer;
  const content = schema === undefined ? type && { [type]: {} } : jsonContent(schema, examples, schemas);
  return { description, headers: { ...REQUEST_ID, ...headers, ...answer.headers }, ...(content ? { content } : {}) };
}

/** Schemas and examples of a body, by media type. */
export type Content = Readonly<Record<string, Partial<Omit<Described, 'description'>>>>;

interface DescribedAnswer {
  readonly description: string;
  readonly headers: object;
  readonly content?: Content;
}

function faultsOf(operation: Operation, schemas: Record<string, object>): [number, DescribedAnswer][] {
  const { security, body, faults = [], headers = {} } = operation;
  const ofKey = (security?.faults ?? []).map((fault) => ({ fault, more: {} }));
  const others = [...(body === undefined ? [] : UNREADABLE_BODY), ...faults].map((fault) => ({ fault, more: headers }));
  return [...ofKey, ...others].map(({ fault: { code, description, message }, more }) => {
    const status = statusOf(code);
    const answer = {
      description,
      headers: {
        ...REQUEST_ID,
        ...(status === 401 ? CHALLENGE : {}),
        ...(status === 429 || status === 503 ? RETRY_AFTER : {}),
        ...more,
      },
      content: {
        'application/problem+json': {
          schema: reference(problemSchema, schemas),
          example: problemOf(new DocshelfError(code, message), '0b54e7c4-0f0f-4a52-9d3c-5d7c2f0a7c11'),
        },
      },
    };
    return [status, answer];
  });
}

function jsonContent(
  schema: object,
  examples: Readonly<Record<string, unknown>>,
  schemas: Record<string, object>,
): Content {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
  return {
    'application/json': {
      schema: reference(schema, schemas),
      ...(named.length === 0 ? {} : { examples: Object.fromEntries(named) }),
    },
  };
}

function reference(schema: object, schemas: Record<string, object>): object {
  const { title } = schema as { title?: string };
  if (title === undefined) return withoutHints(schema);
  schemas[title] ??= withoutHints(schema);
  return { $ref: `#/components/schemas/${title}` };
}

/** Removes docshelf's keywords (`x-…`) from a JSON schema, because some clients reject unknown keywords. */
export function withoutHints(schema: object): object {
  return JSON.parse(JSON.stringify(schema, (key, value) => (key.startsWith('x-') ? undefined : value)));
}

export interface OwnNames {
  readonly domain: string;
  /** Host name that only this site uses. Null if no such host name exists. */
  readonly host: string | null;
  readonly organization?: string | undefined;
}

/** Replaces `acme` and `acme-inc` in examples with real names, so that operators can send the examples. */
export function withOwnNames<T extends object>(document: T, { domain, host, organization = 'acme-inc' }: OwnNames): T {
  const names = new Map([
    ['"acme"', JSON.stringify(domain)],
    ['"acme-inc"', JSON.stringify(organization)],
    ['"docs.acme.dev"', JSON.stringify(host ?? domain)],
    ['acme-export-', `${domain}-export-`],
  ]);
  // Replace all names in one pass, because a real name can be the same as an example name.
  const found = /"acme"|"acme-inc"|"docs\.acme\.dev"|acme-export-/g;
  return JSON.parse(JSON.stringify(document).replaceAll(found, (written) => names.get(written) ?? written));
}
