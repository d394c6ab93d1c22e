import { hash } from 'node:crypto';
import { checkerOf, type DocumentFault, parseJson } from '../../archive/versioned-json.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { OWN_FOLDER } from '../../domain/release.ts';
import type { ShapeOf } from '../../domain/shape.ts';
import type { Passage, Section } from '../section.ts';
import type { Vectors } from '../semantic/vector-file.ts';

/** Of `_docshelf/search/` (docs/search-format.md). */
export const SEARCH_FORMAT_VERSION = 1;

const FOLDER = `${OWN_FOLDER}search/`;
export const SEARCH_HEADER_PATH = `${FOLDER}header.json`;
export const SECTIONS_PATH = `${FOLDER}sections.jsonl`;
export const VECTORS_PATH = `${FOLDER}vectors.i8`;

const HEADER_BYTES_MAX = 64 * 1024;
export const PART_BYTES_MAX = 512 * 1024 ** 2;
/** A section's text is bounded on extraction, and JSON takes up to six bytes for a character. */
const LINE_BYTES_MAX = 4 * 1024 ** 2;
/** Ten times the largest documentation site that is measured. */
export const SECTIONS_MAX = 1_000_000;
const PASSAGES_OF_SECTION_MAX = 100_000;
const DIMS_MAX = 4096;

const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;
const NATURAL = { type: 'integer', minimum: 0 } as const;
const BYTES = { type: 'integer', minimum: 0, maximum: PART_BYTES_MAX } as const;

/** Unknown keys are let be, here and in a section: a later writer may add some. */
const HEADER = {
  type: 'object',
  required: ['formatVersion', 'sections', 'vectors'],
  properties: {
    formatVersion: { const: SEARCH_FORMAT_VERSION },
    sections: {
      type: 'object',
      required: ['count', 'bytes', 'sha256'],
      properties: { count: { type: 'integer', minimum: 0, maximum: SECTIONS_MAX }, bytes: BYTES, sha256: SHA256 },
    },
    vectors: {
      anyOf: [
        { type: 'null' },
        {
          type: 'object',
          required: ['count', 'bytes', 'sha256', 'modelDigest', 'dims'],
          properties: {
            count: NATURAL,
            bytes: BYTES,
            sha256: SHA256,
            modelDigest: SHA256,
            dims: { type: 'integer', minimum: 32, maximum: DIMS_MAX, multipleOf: 32 },
          },
        },
      ],
    },
  },
} as const;
export type Header = ShapeOf<typeof HEADER>;

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

export interface CutSection {
  readonly section: Section;
  readonly prior?: number;
  readonly passages: readonly Passage[];
}

export interface BundleSearch {
  readonly sections: readonly CutSection[];
  /** Null: none were made, or with another model. */
  readonly vectors: Vectors | null;
}

/** @param path in the archive @param bytesMax more need not be read */
export type ReadPart = (path: string, bytesMax: number) => Promise<Uint8Array | null>;

/**
 * Checks all but paths: counts, lengths, digests, every section. Null where there is no search data.
 * @param modelDigest of the model in use; vectors of another are not read
 * @throws DocshelfError `bad_search_data` where it is damaged or newer: to be treated as absent, with a note
 */
export async function decodeBundleSearch(read: ReadPart, modelDigest: string | null): Promise<BundleSearch | null> {
  const headerBytes = await read(SEARCH_HEADER_PATH, HEADER_BYTES_MAX);
  if (headerBytes === null) return null;
  const header = parseHeader(headerBytes);
  const lines = [...parseLines(await readPart(read, SECTIONS_PATH, header.sections))];
  if (lines.length !== header.sections.count)
    throw bad(SECTIONS_PATH, `it has ${lines.length} sections, not ${header.sections.count}`);

  const sections = lines.map(({ embedded: _, ...cut }) => cut);
  const { vectors } = header;
  if (vectors === null || vectors.modelDigest !== modelDigest) return { sections, vectors: null };
  const owners = lines.flatMap(({ passages, embedded }, index) => (embedded ? passages.map(() => index) : []));
  if (vectors.count !== owners.length || vectors.bytes !== owners.length * vectors.dims) {
    throw bad(VECTORS_PATH, 'it has not one vector for each passage');
  }
  const bytes = await readPart(read, VECTORS_PATH, vectors);
  const values = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return { sections, vectors: { modelDigest, dims: vectors.dims, sections: Uint32Array.from(owners), values } };
}

function parseHeader(bytes: Uint8Array): Header {
  if (bytes.length > HEADER_BYTES_MAX) throw bad(SEARCH_HEADER_PATH, `it has more than ${HEADER_BYTES_MAX} bytes`);
  const faultOf = faultsOf(SEARCH_HEADER_PATH);
  return checkerOf<Header>(HEADER)(parseJson(bytes, faultOf), faultOf);
}

async function readPart(read: ReadPart, path: string, part: Header['sections']): Promise<Uint8Array> {
  const bytes = await read(path, part.bytes);
  if (bytes === null) throw bad(path, 'it is missing');
  if (bytes.length !== part.bytes) throw bad(path, `it has ${bytes.length} bytes, not ${part.bytes}`);
  if (hash('sha256', bytes) !== part.sha256) throw bad(path, 'its content is not what was written');
  return bytes;
}

function* parseLines(bytes: Uint8Array): Generator<CutSection & { readonly embedded: boolean }> {
  const check = checkerOf<Line>(LINE);
  let start = 0;
  for (let number = 1; start < bytes.length; number++) {
    const end = bytes.indexOf(0x0a, start);
    const where = `line ${number}`;
    if (end === -1) throw bad(SECTIONS_PATH, `${where} does not end`);
    if (number > SECTIONS_MAX) throw bad(SECTIONS_PATH, `it has more than ${SECTIONS_MAX} sections`);
    if (end - start > LINE_BYTES_MAX) throw bad(SECTIONS_PATH, `${where} has more than ${LINE_BYTES_MAX} bytes`);
    const value = parseJson(bytes.subarray(start, end), faultsOf(SECTIONS_PATH));
    const line = check(value, faultsOf(SECTIONS_PATH, `${where}: `));
    if (!arePassages(line)) throw bad(SECTIONS_PATH, `${where}: its passages are not stretches of its text, in order`);
    const { path, title, documentTitle, headings, text, language, version, tags, prior, passages, embedded } = line;
    const ofDocument = documentTitle === undefined ? {} : { documentTitle };
    yield {
      section: { path, title, ...ofDocument, headings, text, language, version, tags },
      ...(prior === undefined ? {} : { prior }),
      passages: passages.map(([start = 0, end = 0]) => ({ start, end })),
      embedded,
    };
    start = end + 1;
  }
}

function arePassages({ text, passages }: Line): boolean {
  let before = 0;
  return passages.every(([start = 0, end = 0]) => {
    const isInOrder = start < end && end > before && end <= text.length;
    before = end;
    return isInOrder;
  });
}

function faultsOf(path: string, where = ''): DocumentFault {
  return (state, { cause } = {}) => bad(path, where + state, cause);
}

function bad(path: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError('bad_search_data', `Cannot use the bundle's search data "${path}": ${state}`, {
    next: 'The pages are indexed instead. Export again to save that time.',
    cause,
  });
}
