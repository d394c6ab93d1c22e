import { createHash } from 'node:crypto';
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
  if (bytes.length > HEADER_BYTES_MAX) throw bad(HEADER_NAME, `it has more than ${HEADER_BYTES_MAX} bytes`);
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

const RECORDS_A_READ = 1024;

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
    const bytes = readHeader(join(folder, HEADER_NAME));
    const header = bytes === null ? null : parseHeader(bytes);
    if (header === null) return null;
    const vectors = new BundleVectors(folder, header);
    vectors.#verify();
    return vectors;
  }

  /** Yields text keys with vectors. A record is valid only until the next iteration, which may overwrite its memory. */
  *records(): Generator<VectorRecord> {
    const { dims } = this.header;
    const size = KEY_BYTES + dims;
    for (const at of this.header.shards.keys()) {
      for (const chunk of this.#chunks(at)) {
        for (let start = 0; start < chunk.length; start += size) {
          const vector = new Int8Array(chunk.buffer, chunk.byteOffset + start + KEY_BYTES, dims);
          yield { key: chunk.subarray(start, start + KEY_BYTES), vector };
        }
      }
    }
  }

  #verify(): void {
    const { dims, count, shards } = this.header;
    const wrong = shards.findIndex(({ bytes }) => bytes % (KEY_BYTES + dims) !== 0);
    if (wrong !== -1) throw bad(shardName(wrong), 'its last vector is incomplete');
    const records = shards.reduce((sum, { bytes }) => sum + bytes / (KEY_BYTES + dims), 0);
    if (records !== count) throw bad(HEADER_NAME, `it has ${records} vectors, not ${count}`);
    for (const [at, { sha256 }] of shards.entries()) {
      const name = shardName(at);
      const digest = createHash('sha256');
      for (const chunk of this.#chunks(at)) digest.update(chunk);
      if (digest.digest('hex') !== sha256) throw bad(name, 'its SHA-256 digest is not the one in the header');
    }
  }

  *#chunks(at: number): Generator<Buffer> {
    const name = shardName(at);
    const bytes = this.header.shards[at]?.bytes ?? 0;
    const fd = openShard(join(this.#folder, name), name);
    try {
      const stat = fstatSync(fd);
      const size = stat.isFile() ? stat.size : 0;
      if (size !== bytes) throw bad(name, `it has ${size} bytes, not ${bytes}`);
      const chunk = Buffer.alloc(RECORDS_A_READ * (KEY_BYTES + this.header.dims));
      for (let done = 0; done < bytes; ) {
        const wanted = Math.min(chunk.length, bytes - done);
        for (let filled = 0; filled < wanted; ) {
          const bytesRead = readSync(fd, chunk, filled, wanted - filled, done + filled);
          if (bytesRead === 0) throw bad(name, 'it became shorter while docshelf read it');
          filled += bytesRead;
        }
        done += wanted;
        yield chunk.subarray(0, wanted);
      }
    } finally {
      closeSync(fd);
    }
  }
}

function readHeader(file: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(file, 'r');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw bad(HEADER_NAME, 'it cannot be opened', error);
  }
  try {
    if (!fstatSync(fd).isFile()) throw bad(HEADER_NAME, 'it is not a file');
    const bytes = Buffer.alloc(HEADER_BYTES_MAX + 1);
    return bytes.subarray(0, readSync(fd, bytes, 0, bytes.length, 0));
  } finally {
    closeSync(fd);
  }
}

function openShard(file: string, name: string): number {
  try {
    return openSync(file, 'r');
  } catch (error) {
    throw bad(name, 'it is missing', error);
  }
}

/** Writes `_docshelf/search/`. Writes the header last, so that partial data has no header. */
export class BundleVectorWriter implements Disposable {
  readonly #folder: string;
  readonly #model: Pick<Header, 'modelDigest' | 'dims'>;
  readonly #shards: { bytes: number; sha256: string }[] = [];
  #fd: number | null = null;
  #digest = createHash('sha256');
  #bytes = 0;
  #count = 0;

  constructor(folder: string, model: Pick<Header, 'modelDigest' | 'dims'>) {
    this.#folder = folder;
    this.#model = model;
  }

  add({ key, vector }: VectorRecord): void {
    const record = Buffer.concat([key, new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength)]);
    if (this.#bytes + record.length > SHARD_BYTES_MAX) this.#endShard();
    this.#fd ??= openSync(join(this.#folder, shardName(this.#shards.length)), 'wx', 0o644);
    this.#digest.update(record);
    writeFileSync(this.#fd, record);
    this.#bytes += record.length;
    this.#count += 1;
  }

  finish(): void {
    if (this.#fd !== null) this.#endShard();
    const { modelDigest, dims } = this.#model;
    const facts = { count: this.#count, shards: this.#shards, modelDigest, dims };
    const header: Header = { formatVersion: SEARCH_FORMAT_VERSION, ...facts };
    writeFileSync(join(this.#folder, HEADER_NAME), `${JSON.stringify(header, null, 2)}\n`, { flag: 'wx' });
  }

  [Symbol.dispose](): void {
    if (this.#fd !== null) closeSync(this.#fd);
    this.#fd = null;
  }

  #endShard(): void {
    this.#shards.push({ bytes: this.#bytes, sha256: this.#digest.digest('hex') });
    this[Symbol.dispose]();
    this.#digest = createHash('sha256');
    this.#bytes = 0;
  }
}
