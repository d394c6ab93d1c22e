import { checkerOf, type DocumentFault, parseJson } from '../../archive/versioned-json.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { OWN_FOLDER } from '../../domain/release.ts';
import type { ShapeOf } from '../../domain/shape.ts';
import type { Passage, Section } from '../section.ts';
import { ROWS_MAX } from '../semantic/vector-table.ts';

/** Of `_docshelf/search/` (docs/search-format.md). */
export const SEARCH_FORMAT_VERSION = 2;

export const SEARCH_FOLDER = `${OWN_FOLDER}search/`;
export const HEADER_NAME = 'header.json';
export type CarriedPart = 'sections' | 'vectors';
export const shardName = (part: CarriedPart, at: number): string =>
  part === 'sections' ? `sections-${at + 1}.jsonl` : `vectors-${at + 1}.i8`;

/** A header of all shards. */
export const HEADER_BYTES_MAX = 1024 ** 2;
export const SHARD_BYTES_MAX = 32 * 1024 ** 2;
const SHARDS_MAX = 4_096;
/** A section's text is bounded on extraction, and JSON takes up to six bytes for a character. */
export const LINE_BYTES_MAX = 4 * 1024 ** 2;
/** Ten times the largest documentation site that is measured. */
export const SECTIONS_MAX = 1_000_000;
const PASSAGES_OF_SECTION_MAX = 100_000;
/** Two that follow each other have 220 tokens, of which up to 60 stand in both; a token has a character or more. */
const CHARACTERS_A_PASSAGE = 64;
const DIMS_MAX = 4096;

/** Sections are what pages say: lines of JSON have titles and headings besides, and lack the markup. */
export function sectionBytesMax(pageBytes: number): number {
  return 2 * pageBytes + 16 * 1024 ** 2;
}

const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const NATURAL = { type: 'integer', minimum: 0 } as const;
const SHARDS = {
  type: 'array',
  maxItems: SHARDS_MAX,
  items: {
    type: 'object',
    required: ['bytes', 'sha256'],
    properties: { bytes: { type: 'integer', minimum: 0, maximum: SHARD_BYTES_MAX }, sha256: SHA256 },
  },
} as const;

/** Unknown keys are let be, here and in a section: a later writer may add some. */
const HEADER = {
  type: 'object',
  required: ['formatVersion', 'sections', 'vectors'],
  properties: {
    formatVersion: { const: SEARCH_FORMAT_VERSION },
    sections: {
      type: 'object',
      required: ['count', 'shards'],
      properties: { count: { type: 'integer', minimum: 0, maximum: SECTIONS_MAX }, shards: SHARDS },
    },
    vectors: {
      anyOf: [
        { type: 'null' },
        {
          type: 'object',
          required: ['count', 'shards', 'modelDigest', 'dims'],
          properties: {
            count: { type: 'integer', minimum: 0, maximum: ROWS_MAX },
            shards: SHARDS,
            modelDigest: SHA256,
            dims: { type: 'integer', minimum: 32, maximum: DIMS_MAX, multipleOf: 32 },
          },
        },
      ],
    },
  },
} as const;
export type Header = ShapeOf<typeof HEADER>;
// Once: to compile them took 17 of the 19 ms that three sections were read in (measured).
const checkHeader = checkerOf<Header>(HEADER);

const LINE = {
  type: 'object',
  required: ['path', 'title', 'headings', 'text', 'language', 'version', 'tags', 'passages', 'embedded'],
  properties: {
    /** A path on the site, never another host's (`//host`), on one line. */
    path: { type: 'string', pattern: '^/(?!/)[^\\u0000-\\u0020\\u007f\\\\]*$', maxLength: 16_384 },
    title: { type: 'string', maxLength: 1000 },
    documentTitle: { type: 'string', maxLength: 1000 },
    prior: { type: 'number', minimum: 0, maximum: 1 },
    headings: { type: 'array', items: { type: 'string', maxLength: 1000 }, maxItems: 64 },
    text: { type: 'string' },
    language: { anyOf: [{ type: 'string', maxLength: 100 }, { type: 'null' }] },
    version: { anyOf: [{ type: 'string', maxLength: 128 }, { type: 'null' }] },
    tags: { type: 'array', items: { type: 'string', maxLength: 200 }, maxItems: 200 },
    passages: {
      type: 'array',
      items: { type: 'array', items: NATURAL, minItems: 2, maxItems: 2 },
      maxItems: PASSAGES_OF_SECTION_MAX,
    },
    /** True where its passages have vectors: a model need not read every language. */
    embedded: { type: 'boolean' },
  },
} as const;
type Line = ShapeOf<typeof LINE>;
const checkLine = checkerOf<Line>(LINE);

export interface CutSection {
  readonly section: Section;
  readonly prior?: number;
  readonly passages: readonly Passage[];
}

export interface CarriedSection extends CutSection {
  readonly embedded: boolean;
}

/** @throws DocshelfError `bad_search_data` */
export function parseHeader(bytes: Uint8Array): Header {
  if (bytes.length > HEADER_BYTES_MAX) throw bad(HEADER_NAME, `it has more than ${HEADER_BYTES_MAX} bytes`);
  const faultOf = faultsOf(HEADER_NAME);
  return checkHeader(parseJson(bytes, faultOf), faultOf);
}

/** @throws DocshelfError `bad_search_data` @param where names the line */
export function parseLine(bytes: Uint8Array, name: string, where: string): CarriedSection {
  if (bytes.length > LINE_BYTES_MAX) throw bad(name, `${where} has more than ${LINE_BYTES_MAX} bytes`);
  const line = checkLine(parseJson(bytes, faultsOf(name)), faultsOf(name, `${where}: `));
  if (!arePassages(line)) throw bad(name, `${where}: its passages are not stretches of its text, in order`);
  const { path, title, documentTitle, headings, text, language, version, tags, prior, passages, embedded } = line;
  const ofDocument = documentTitle === undefined ? {} : { documentTitle };
  return {
    section: { path, title, ...ofDocument, headings, text, language, version, tags },
    ...(prior === undefined ? {} : { prior }),
    passages: passages.map(([start = 0, end = 0]) => ({ start, end })),
    embedded,
  };
}

/** Each character stands in two of them at the most, and they are no more than a text of that length is cut into. */
function arePassages({ text, passages }: Line): boolean {
  let before = 0;
  let characters = 0;
  const areInOrder = passages.every(([start = 0, end = 0]) => {
    const isInOrder = start < end && end > before && end <= text.length;
    before = end;
    characters += end - start;
    return isInOrder;
  });
  const countMax = 2 + text.length / CHARACTERS_A_PASSAGE;
  return areInOrder && characters <= 2 * text.length && passages.length <= countMax;
}

function faultsOf(name: string, where = ''): DocumentFault {
  return (state, { cause } = {}) => bad(name, where + state, cause);
}

export function bad(name: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError(
    'bad_search_data',
    `Cannot use the bundle's search data "${SEARCH_FOLDER}${name}": ${state}`,
    {
      next: 'The pages are indexed instead. Export again to save that time.',
      cause,
    },
  );
}
