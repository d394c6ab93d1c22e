import { hash } from 'node:crypto';
import { closeSync, fstatSync, openSync, readSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkerOf, type DocumentFault, parseJson } from '../../archive/versioned-json.ts';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { objectOf, type ShapeOf } from '../../domain/shape.ts';
import { SEARCH_FOLDER } from '../indexing/index-files.ts';
import type { VectorRecord } from '../semantic/vector-cache.ts';
import { ROWS_MAX } from '../semantic/vector-table.ts';

/** Version of the search data in a bundle. docs/search-format.md describes it. */
const SEARCH_FORMAT_VERSION = 3;

const HEADER_NAME = 'header.json';
const shardName = (at: number): string => `vectors-${at + 1}.bin`;

const HEADER_BYTES_MAX = 1024 ** 2;
const SHARD_BYTES_MAX = 32 * 1024 ** 2;
const SHARDS_MAX = 4_096;
const DIMS_MAX = 4096;
const KEY_BYTES = 32;

const SHA256 = { type: 'string', pattern: '^[0-9a-f]{64}$' } as const;

/** Schema of the header. Allows unknown keys, because a later format may add keys. */
const HEADER = objectOf({
  formatVersion: { const: SEARCH_FORMAT_VERSION },
  count: { type: 'integer', minimum: 0, maximum: ROWS_MAX },
  shards: {
    type: 'array',
    maxItems: SHARDS_MAX,
    items: objectOf({ bytes: { type: 'integer', minimum: 0, maximum: SHARD_BYTES_MAX }, sha256: SHA256 }),
  },
  modelDigest: SHA256,
  dims: { type: 'integer', minimum: 32, maximum: DIMS_MAX, multipleOf: 32 },
});
type Header = ShapeOf<typeof HEADER>;
const checkHeader = checkerOf<Header>(HEADER);

function parseHeader(bytes: Uint8Array): Header | null {
  const faultOf: DocumentFault = (state, { cause } = {}) => bad(HEADER_NAME, state, cause);
  const header = parseJson(bytes, faultOf);
  const { formatVersion } = (header ?? {}) as { readonly formatVersion?: unknown };
  if (typeof formatVersion === 'number' && formatVersion < SEARCH_FORMAT_VERSION) return null;
  return checkHeader(header, faultOf);
}

function bad(name: string, state: string, cause?: unknown): DocshelfError {
  return new DocshelfError(
    'bad_search_data',
    `Cannot use the bundle's search data "${SEARCH_FOLDER}${name}": ${state}`,
    { next: 'docshelf computes the vectors again. To save that time, export the site again.', cause },
  );
}

export class BundleVectors {
  readonly header: Header;
  readonly #folder: string;

  private constructor(folder: string, header: Header) {
    this.#folder = folder;
    this.header = header;
  }

  /** Verifies all shards. Null if the search data is missing or has an older format. @throws DocshelfError `bad_search_data` */
  static open(releaseDir: string): BundleVectors | null {
    const folder = join(releaseDir, SEARCH_FOLDER);
    const memory = Buffer.alloc(HEADER_BYTES_MAX);
    const bytes = readInto(memory, folder, HEADER_NAME);
    if (bytes === null) return null;
    if (bytes > HEADER_BYTES_MAX) throw bad(HEADER_NAME, `it has more than ${HEADER_BYTES_MAX} bytes`);
    const header = parseHeader(memory.subarray(0, bytes));
    if (header === null) return null;
    const vectors = new BundleVectors(folder, header);
    vectors.#verify();
    return vectors;
  }

  /** Yields text keys with vectors. A record is valid only until the next iteration, which may overwrite its memory. */
  *records(): Generator<VectorRecord> {
    const { dims } = this.header;
    for (const shard of this.#shards()) {
      for (let start = 0; start < shard.length; start += KEY_BYTES + dims) {
        const vector = new Int8Array(shard.buffer, shard.byteOffset + start + KEY_BYTES, dims);
        yield { key: shard.subarray(start, start + KEY_BYTES), vector };
      }
    }
  }

  #verify(): void {
    const { dims, count, shards } = this.header;
    const wrong = shards.findIndex(({ bytes }) => bytes % (KEY_BYTES + dims) !== 0);
    if (wrong !== -1) throw bad(shardName(wrong), 'its last vector is incomplete');
    const records = shards.reduce((sum, { bytes }) => sum + bytes / (KEY_BYTES + dims), 0);
    if (records !== count) throw bad(HEADER_NAME, `it has ${records} vectors, not ${count}`);
    for (const _ of this.#shards());
  }

  /** Reads all shards into the same memory, one after the other, and checks the size and digest of each one. */
  *#shards(): Generator<Buffer<ArrayBuffer>> {
    const { shards } = this.header;
    const memory = Buffer.alloc(shards.reduce((most, { bytes }) => Math.max(most, bytes), 0));
    for (const [at, { bytes, sha256 }] of shards.entries()) {
      const name = shardName(at);
      const shard = memory.subarray(0, bytes);
      const size = readInto(shard, this.#folder, name);
      if (size !== bytes) throw bad(name, size === null ? 'it is missing' : `it has ${size} bytes, not ${bytes}`);
      if (hash('sha256', shard) !== sha256) throw bad(name, 'its SHA-256 digest is not the one in the header');
      yield shard;
    }
  }
}

/** Reads a file up to the length of `memory`. @returns size of the file, or null if it is missing */
function readInto(memory: Buffer, folder: string, name: string): number | null {
  let fd: number;
  try {
    fd = openSync(join(folder, name), 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw bad(name, 'it cannot be opened', error);
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) throw bad(name, 'it is not a file');
    readSync(fd, memory, 0, memory.length, 0);
    return stat.size;
  } finally {
    closeSync(fd);
  }
}

/** Writes `_docshelf/search/`. Writes the header last, so that partial data has no header. */
export class BundleVectorWriter {
  readonly #folder: string;
  readonly #model: Pick<Header, 'modelDigest' | 'dims'>;
  readonly #shards: { bytes: number; sha256: string }[] = [];
  #records: Buffer[] = [];
  #count = 0;

  constructor(folder: string, model: Pick<Header, 'modelDigest' | 'dims'>) {
    this.#folder = folder;
    this.#model = model;
  }

  add({ key, vector }: VectorRecord): void {
    const record = Buffer.concat([key, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)]);
    if ((this.#records.length + 1) * record.length > SHARD_BYTES_MAX) this.#writeShard();
    this.#records.push(record);
    this.#count += 1;
  }

  finish(): void {
    if (this.#records.length > 0) this.#writeShard();
    const { modelDigest, dims } = this.#model;
    const facts = { count: this.#count, shards: this.#shards, modelDigest, dims };
    const header: Header = { formatVersion: SEARCH_FORMAT_VERSION, ...facts };
    writeFileSync(join(this.#folder, HEADER_NAME), `${JSON.stringify(header, null, 2)}\n`, { flag: 'wx' });
  }

  #writeShard(): void {
    const bytes = Buffer.concat(this.#records);
    writeFileSync(join(this.#folder, shardName(this.#shards.length)), bytes, { flag: 'wx' });
    this.#shards.push({ bytes: bytes.length, sha256: hash('sha256', bytes) });
    this.#records = [];
  }
}
