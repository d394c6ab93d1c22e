import { problemDescriptions, problemSchema } from './openapi-problem.ts';
import { ORGANIZATION_RATE } from './rate-limit.ts';
import {
  searchRequestExample,
  searchRequestSchema,
  searchResultsExample,
  searchResultsSchema,
} from './search-schema.ts';

export interface OpenApiFacts {
  readonly programVersion: string;
  /** Null: clients reach the API where they found this document. */
  readonly publicUrl: string | null;
}

const JSON_TYPE = 'application/json';
const requestId = {
  description: 'Id of the request; the log line of a failure has it. One that the client sends is kept.',
  schema: { type: 'string' },
};
const retryAfter = {
  description: 'Seconds until it is worth asking again.',
  schema: { type: 'integer', minimum: 1 },
};
const rateHeaders = {
  'RateLimit-Policy': {
    description: 'The limit: `q` requests in any `w` seconds (draft-ietf-httpapi-ratelimit-headers-10).',
    schema: { type: 'string' },
    example: `"hour";q=${ORGANIZATION_RATE.requestsMax};w=${ORGANIZATION_RATE.windowMs / 1000}`,
  },
  RateLimit: {
    description: 'What is left of it: `r` requests; `t` seconds until there is one more.',
    schema: { type: 'string' },
    example: '"hour";r=9999;t=3600',
  },
};

/** What a status says, with the problem document and the headers that come with it. */
function problem(status: keyof typeof problemDescriptions, headers: object): object {
  return {
    description: problemDescriptions[status],
    headers: { 'X-Request-Id': requestId, ...headers },
    content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
  };
}

/** The API as an OpenAPI 3.1 document, made of the schemas that requests are checked with. */
export function openApiDocument({ programVersion, publicUrl }: OpenApiFacts): object {
  return {
    openapi: '3.1.1',
    info: {
      title: 'docshelf API',
      version: programVersion,
      description: 'Search over documentation sites. Faults are problem documents (RFC 9457) with a `code`.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl ?? '/' }],
    security: [{ assistantKey: [] }],
    tags: [{ name: 'Search' }],
    paths: {
      '/v1/search/{domain}': {
        post: {
          operationId: 'search',
          tags: ['Search'],
          summary: 'Searches a site',
          description:
            'Semantic and keyword search over the sections of a site. 10,000 requests an organization in any rolling hour; every request with a valid key counts, save those that the limit refuses. Open to all origins.',
          parameters: [
            {
              name: 'domain',
              in: 'path',
              required: true,
              description: 'The site: its domain or one of its full host names, in any case.',
              schema: { type: 'string' },
              examples: { domain: { value: 'acme' }, host: { value: 'docs.acme.dev' } },
            },
          ],
          requestBody: {
            required: true,
            description: 'At most 64 KiB.',
            content: {
              [JSON_TYPE]: { schema: { $ref: '#/components/schemas/SearchRequest' }, example: searchRequestExample },
            },
          },
          responses: {
            200: {
              description: 'The results; none is an empty array.',
              headers: { 'X-Request-Id': requestId, ...rateHeaders },
              content: {
                [JSON_TYPE]: { schema: { $ref: '#/components/schemas/SearchResults' }, example: searchResultsExample },
              },
            },
            400: problem(400, rateHeaders),
            401: problem(401, {
              'WWW-Authenticate': { description: 'Always `Bearer`.', schema: { const: 'Bearer' } },
            }),
            403: problem(403, {}),
            404: problem(404, rateHeaders),
            413: problem(413, rateHeaders),
            415: problem(415, rateHeaders),
            429: problem(429, { ...rateHeaders, 'Retry-After': retryAfter }),
            503: problem(503, { ...rateHeaders, 'Retry-After': retryAfter }),
          },
        },
      },
    },
    components: {
      securitySchemes: {
        assistantKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An assistant key, `svc_dsc_…`. It is public: safe in code that runs in a browser.',
        },
      },
      schemas: { SearchRequest: searchRequestSchema, SearchResults: searchResultsSchema, Problem: problemSchema },
    },
  };
}
