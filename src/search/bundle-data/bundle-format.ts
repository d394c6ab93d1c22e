import { checkerOf, type DocumentFault, parseJson } from '../../archive/versioned-json.ts';
import { DocshelfError } from '../../domain/errors.ts';
import type { ShapeOf } from '../../domain/shape.ts';
import { SEARCH_FOLDER } from '../indexing/index-files.ts';
import { ROWS_MAX } from '../semantic/vector-table.ts';

/** Version of the files in `_docshelf/search/` (docs/search-format.md). */
export const SEARCH_FORMAT_VERSION = 3;

export const HEADER_NAME = 'header.json';
export const shardName = (at: number): string => `vectors-${at + 1}.bin`;

/** The header lists all shards. */
export const HEADER_BYTES_MAX = 1024 ** 2;
export const SHARD_BYTES_MAX = 32 * 1024 ** 2;
const SHARDS_MAX = 4_096;
const DIMS_MAX = 4096;
/** SHA-256 of the embedded text, before each vector. */
export const KEY_BYTES = 32;

const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;

/** Unknown keys are allowed: a later writer may add some. */
const HEADER = {
  type: 'object',
  required: ['formatVersion', 'count', 'shards', 'modelDigest', 'dims'],
  properties: {
    formatVersion: { const: SEARCH_FORMAT_VERSION },
    count: { type: 'integer', minimum: 0, maximum: ROWS_MAX },
    shards: {
      type: 'array',
      maxItems: SHARDS_MAX,
      items: {
        type: 'object',
        required: ['bytes', 'sha256'],
        properties: { bytes: { type: 'integer', minimum: 0, maximum: SHARD_BYTES_MAX }, sha256: SHA256 },
      },
    },
    modelDigest: SHA256,
    dims: { type: 'integer', minimum: 32, maximum: DIMS_MAX, multipleOf: 32 },
  },
} as const;
export type Header = ShapeOf<typeof HEADER>;
// Compiled once: that took 17 ms.
const checkHeader = checkerOf<Header>(HEADER);

/** Null for a header of an older format. @throws DocshelfError `bad_search_data` */
export function parseHeader(bytes: Uint8Array): Header | null {
  if (bytes.length > HEADER_BYTES_MAX) throw bad(HEADER_NAME, `it has more than ${HEADER_BYTES_MAX} bytes`);
  const faultOf: DocumentFault = (state, { cause } = {}) => bad(HEADER_NAME, state, cause);
  const header = parseJson(bytes, faultOf);
  const { formatVersion } = (header ?? {}) as { readonly formatVersion?: unknown };
  if (typeof formatVersion === 'number' && formatVersion < SEARCH_FORMAT_VERSION) return null;
  return checkHeader(header, faultOf);
}

export function bad(name: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError(
    'bad_search_data',
    `Cannot use the bundle's search data "${SEARCH_FOLDER}${name}": ${state}`,
    { next: 'docshelf computes the vectors again. To save that time, export the site again.', cause },
  );
}
