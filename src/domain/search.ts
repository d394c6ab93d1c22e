import { objectOf, type ShapeOf, text, textOrNull, texts } from './shape.ts';

const PAGE_SIZE_MAX = 50;
export const PAGE_SIZE_DEFAULT = 10;
/** Maximum characters of a filter. The longest version label has 128, the longest language tag 35 (RFC 5646, section 4.4.1). */
const FILTER_LENGTH_MAX = 256;

const query = {
  type: 'string',
  'x-trim': true,
  minLength: 1,
  // Maximum length of a query. JSON Schema counts code points, not UTF-16 code units.
  maxLength: 1000,
  description:
    'Words to search for. White space around them does not count towards the length. "Quotes" search for a phrase. `-word` excludes a word, unless a page of the site contains `-word` itself, such as a command-line option.',
} as const;
const pageSize = {
  type: 'integer',
  minimum: 1,
  maximum: PAGE_SIZE_MAX,
  default: PAGE_SIZE_DEFAULT,
  description: 'Maximum number of results.',
} as const;
const filterText = (description: string) =>
  ({ type: 'string', minLength: 1, maxLength: FILTER_LENGTH_MAX, description }) as const;
const language = filterText('Content language. `pt` also finds `pt-BR`.');
const version = filterText(
  'Version of the documentation. It is the version that the page names. If the page names none, it is the version of the release.',
);
const tag = filterText('Tag of the page.');

export const searchRequestSchema = {
  title: 'SearchRequest',
  type: 'object',
  required: ['query'],
  additionalProperties: false,
  properties: {
    query,
    pageSize,
    scoreThreshold: {
      type: 'number',
      minimum: 0,
      maximum: 1,
      description: 'Minimum `metadata.score` of a result. Default: all results.',
    },
    filter: {
      type: 'object',
      additionalProperties: false,
      description: 'Limits the results. A filter without matches returns no results, and is not an error.',
      properties: { version, language, tag },
    },
  },
} as const;
export type WrittenSearch = ShapeOf<typeof searchRequestSchema>;

export const siteSearchSchema = {
  type: 'object',
  required: ['q'],
  additionalProperties: false,
  properties: {
    q: query,
    limit: pageSize,
    language,
    version,
    tag,
    legs: {
      enum: ['words', 'all'],
      description:
        '`words` searches only by keywords, which is faster. `all` also searches by meaning. Default: `all`.',
    },
    scope: {
      enum: ['site', 'all'],
      description:
        '`site` searches this site. `all` searches each site of the shelf that readers of this site may see. Default: `site`.',
    },
    view: {
      enum: ['box'],
      description:
        'With `box`, the response is an object with the results and the additional facts for a search box. Without it, the response is the list of results.',
    },
  },
} as const;

export interface SearchRequest {
  readonly query: string;
  readonly pageSize: number;
  /** Minimum score of results, 0 to 1. Null returns all results. */
  readonly scoreThreshold: number | null;
  readonly filter: {
    readonly version: string | null;
    readonly language: string | null;
    readonly tag: string | null;
  };
  /** True for search as you type, in which the last word may be the beginning of a word. */
  readonly prefixLast: boolean;
  readonly isByWords?: boolean;
  /** Adds `facts` to the response. Default: false. */
  readonly wantsFacts?: boolean;
  /** Adds `reasons` to results, for operators only. Default: false. */
  readonly isExplained?: boolean;
}

export interface SearchFacts {
  /** Query in which known words replace unknown words. Null if all words are known, or if no known word is similar. */
  readonly corrected: string | null;
  /** Words and phrases after a minus, which no result contains. */
  readonly excluded: readonly string[];
  /** Query that also finds the excluded words. Null if no words are excluded. */
  readonly inclusive: string | null;
  /** Languages, versions and tags on pages of the site, most frequent first. A list with fewer than two values is empty. */
  readonly facets: Readonly<Record<SearchFacet, readonly string[]>>;
  readonly semantic: boolean;
}

export type SearchFacet = 'languages' | 'versions' | 'tags';

export function searchRequestOf(written: WrittenSearch): SearchRequest {
  const { query, pageSize = PAGE_SIZE_DEFAULT, scoreThreshold = null, filter = {} } = written;
  const { version = null, language = null, tag = null } = filter;
  return { query, pageSize, scoreThreshold, filter: { version, language, tag }, prefixLast: false };
}

const places = (description: string) =>
  ({
    type: 'array',
    description,
    items: objectOf({ start: { type: 'integer', minimum: 0 }, end: { type: 'integer', minimum: 0 } }),
  }) as const;

const resultFacts = objectOf(
  {
    score: { type: 'number', minimum: 0, maximum: 1, description: 'Score of the result, comparable between queries.' },
    title: text('Title of the page.'),
    headings: texts('Headings from the first heading of the page to the heading of the section.'),
    version: textOrNull('Version of the documentation.'),
    language: textOrNull('Language of the page.'),
    tags: texts('Tags of the page.'),
    highlights: places('Positions of the words of the query in `content`, in UTF-16 code units.'),
  },
  {
    code: places('Positions of the code blocks in `content`, in UTF-16 code units.'),
    source: {
      enum: ['local', 'hosted'],
      description: 'Engine that returned the results; present if a hosted search is configured.',
    },
  },
);

export const searchResultsSchema = {
  title: 'SearchResults',
  type: 'array',
  maxItems: PAGE_SIZE_MAX,
  description: 'Results, sorted by descending `metadata.score`.',
  items: objectOf({
    content: text('The matching text of the section.'),
    path: text(
      "The page's path on the site's hosts, under its base path, with the `#fragment` of the section's heading.",
    ),
    metadata: { description: 'Facts about the result. More keys may be added.', ...resultFacts },
  }),
} as const;
export type SearchResult = ShapeOf<typeof searchResultsSchema>[number] & { readonly reasons?: ScoreReasons };

/** Results are sorted by the sum of `words`, `meaning` and `lift`. The score is derived from this sum. */
export interface ScoreReasons {
  readonly words: number;
  /** Score of the vector model. Null if the model has not scored this section. */
  readonly meaning: number | null;
  /** Bonus for an exact title or identifier (see `exact`), and for names in the query that the section contains. */
  readonly lift: number;
  /** `title` if the query equals the page's title, `identifier` if the query is one name that the section contains. */
  readonly exact: 'title' | 'identifier' | null;
  readonly places: readonly ('title' | 'headings' | 'text')[];
  /** Importance of the page in its site, 0 to 1, or -1 for change logs and lists, which rank lower. */
  readonly prior: number;
}
