import type { SearchRequest, SearchResult } from '../search/index.ts';

/**
 * The words of `POST /v1/search/{domain}` (contract, section 5) as JSON Schema, in the part of it that draft 7 and 2020-12
 * share: requests are checked with them, and the OpenAPI document is made of them.
 */

export const QUERY_LENGTH_MAX = 1000;
export const PAGE_SIZE_MAX = 50;
export const PAGE_SIZE_DEFAULT = 10;
/** Versions have 128 characters, language tags 35 (RFC 5646, section 4.4.1); a tag is a keyword of a page. */
const FILTER_LENGTH_MAX = 256;

const filterText = (description: string) => ({
  type: 'string',
  minLength: 1,
  maxLength: FILTER_LENGTH_MAX,
  description,
});

export const searchRequestSchema = {
  type: 'object',
  required: ['query'],
  additionalProperties: false,
  properties: {
    query: {
      type: 'string',
      // As JSON Schema counts: code points.
      minLength: 1,
      maxLength: QUERY_LENGTH_MAX,
      description:
        'What is looked for, in words. White space around it is left out before its length is looked at. "Quotes" ask for a phrase, -word leaves out.',
    },
    pageSize: {
      type: 'integer',
      minimum: 1,
      maximum: PAGE_SIZE_MAX,
      default: PAGE_SIZE_DEFAULT,
      description: 'Results at the most.',
    },
    scoreThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Only results whose `metadata.score` is at least that. Without it, all.',
    },
    filter: {
      type: 'object',
      additionalProperties: false,
      description: 'What results must be of. A filter that matches nothing gives no results, and is no error.',
      properties: {
        version: filterText('Version of the documentation, as its pages say it; else that of the release.'),
        language: filterText('Content language. `pt` also finds `pt-BR`.'),
        tag: filterText('Tag of the page.'),
      },
    },
  },
};

/** A request as a client writes it, after its check. */
export interface WrittenSearchRequest {
  readonly query: string;
  readonly pageSize?: number;
  readonly scoreThreshold?: number;
  readonly filter?: { readonly [Key in keyof SearchRequest['filter']]?: string };
}

const textOrNull = (description: string) => ({ type: ['string', 'null'], description });
const texts = (description: string) => ({ type: 'array', items: { type: 'string' }, description });

export const searchResultsSchema = {
  type: 'array',
  maxItems: PAGE_SIZE_MAX,
  description: 'By descending `metadata.score`.',
  items: {
    type: 'object',
    required: ['content', 'path', 'metadata'],
    properties: {
      content: { type: 'string', description: 'The matching text of the section.' },
      path: { type: 'string', description: "The page's path, with the `#fragment` of the section's heading." },
      metadata: {
        type: 'object',
        required: ['score', 'title', 'headings', 'version', 'language', 'tags', 'highlights'],
        description: 'More keys may join.',
        properties: {
          score: { type: 'number', minimum: 0, maximum: 1, description: 'Comparable between queries.' },
          title: { type: 'string', description: 'Title of the page.' },
          headings: texts("Headings from the page's first down to the section's own."),
          version: textOrNull('Version of the documentation.'),
          language: textOrNull('Language of the page.'),
          tags: texts('Tags of the page.'),
          highlights: {
            type: 'array',
            description: 'Where the words of the query stand in `content`, in UTF-16 code units.',
            items: {
              type: 'object',
              required: ['start', 'end'],
              properties: { start: { type: 'integer', minimum: 0 }, end: { type: 'integer', minimum: 0 } },
            },
          },
          source: {
            enum: ['local', 'hosted'],
            description: 'Which engine answered; only where a hosted search is configured.',
          },
        },
      },
    },
  },
};

export const searchRequestExample: WrittenSearchRequest = {
  query: 'how do I rotate keys',
  pageSize: 3,
  filter: { version: 'v3.2.0', language: 'en' },
};

export const searchResultsExample: readonly SearchResult[] = [
  {
    content: 'Keys are rotated without a restart: add the new key, let clients change over, then remove the old one.',
    path: '/guides/keys#rotate-keys',
    metadata: {
      score: 0.83,
      title: 'Keys',
      headings: ['Keys', 'Rotate keys'],
      version: 'v3.2.0',
      language: 'en',
      tags: ['security'],
      highlights: [
        { start: 0, end: 4 },
        { start: 9, end: 16 },
      ],
    },
  },
];
