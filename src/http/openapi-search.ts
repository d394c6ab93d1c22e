import { ORGANIZATION_RATE } from './limits/sliding-log.ts';
import { bodyFaults, faultAnswer, jsonContent, keyFaults, requestIdHeader } from './openapi-problem.ts';
import {
  searchRequestExample,
  searchRequestSchema,
  searchResultsExample,
  searchResultsSchema,
} from './search-schema.ts';

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

/** The search endpoint (contract, section 5). */
export const searchPart = {
  tag: { name: 'Search', description: 'Semantic and keyword search over a site.' },
  securitySchemes: {
    assistantKey: {
      type: 'http',
      scheme: 'bearer',
      description: 'An assistant key, `svc_dsc_…`. It is public: safe in code that runs in a browser.',
    },
  },
  schemas: { SearchRequest: searchRequestSchema, SearchResults: searchResultsSchema },
  paths: {
    '/v1/search/{domain}': {
      post: {
        operationId: 'search',
        tags: ['Search'],
        security: [{ assistantKey: [] }],
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
          content: jsonContent('SearchRequest', { filtered: searchRequestExample }),
        },
        responses: {
          200: {
            description: 'The results; none is an empty array.',
            headers: { 'X-Request-Id': requestIdHeader, ...rateHeaders },
            content: jsonContent('SearchResults', { one: searchResultsExample }),
          },
          ...keyFaults('assistant'),
          ...bodyFaults(rateHeaders),
          ...faultAnswer(
            'bad_request',
            'Malformed JSON, or a field that is unknown or out of bounds; the message names it.',
            'Cannot search: the field "pageSize" must be at most 50',
            rateHeaders,
          ),
          ...faultAnswer(
            'not_found',
            "There is no such domain, or it is another organization's; or search is turned off.",
            'Cannot search "amce": there is no such domain',
            rateHeaders,
          ),
          ...faultAnswer(
            'rate_limited',
            'Over the rate limit, or more searches wait than the engine takes on.',
            'Cannot answer now: the organization has made 10000 requests within the last hour',
            rateHeaders,
          ),
          ...faultAnswer(
            'index_building',
            'The first index is still being built.',
            'Cannot search "acme": its first index is still being built',
            rateHeaders,
          ),
        },
      },
    },
  },
};
