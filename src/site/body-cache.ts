import { pipeline, Readable } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { Scheduler } from '../threads/scheduler.ts';
import { isCompressible } from '../web/media-type.ts';
import { type Coding, compress, compressorOf, type Encoding, FORMS, type Form } from './encoding.ts';
import type { Sibling } from './sibling.ts';
import { readSiteFile } from './site-bytes.ts';

/** Bytes to send. The encoding is `identity` if compression saves no bytes. */
export interface Body extends Form {
  readonly bytes: Buffer<ArrayBuffer>;
}

interface CacheableFile {
  readonly type: string;
  readonly releaseDir: string;
  bodyKey(encoding: Encoding): string;
  read(): Promise<Buffer<ArrayBuffer>>;
  /** Finds the compressed form of the file in the bundle. Null if the bundle has no such form. Never rejects. */
  findSibling(coding: Coding): Promise<Sibling | null>;
}

/** Largest share of the cache for one body, so that a search index cannot evict every page. */
const CACHE_PART_MAX = 1 / 8;
const ENTRY_BYTES = 256;
/**
 * Maximum bodies to load at once, because they do not count for the size of the cache yet. Equal to the threads of libuv's pool.
 */
const LOADS_MAX = 4;

/** LRU cache of response bodies by content and encoding. Concurrent requests for a body share one load. */
export class BodyCache {
  /** Maximum bytes of a cached body. Larger files are streamed, but their compressed form is cached if it fits. */
  readonly bodyBytesMax: number;
  readonly #bodies: LRUCache<string, Body>;
  readonly #scheduler = new Scheduler(LOADS_MAX);

  constructor(cacheBytes: number) {
    this.bodyBytesMax = Math.floor(cacheBytes * CACHE_PART_MAX);
    this.#bodies = new LRUCache({
      maxSize: Math.max(1, cacheBytes),
      sizeCalculation: ({ bytes }) => bytes.length + ENTRY_BYTES,
    });
  }

  get(file: Pick<CacheableFile, 'bodyKey'>, encoding: Encoding): Body | undefined {
    return this.#bodies.get(file.bodyKey(encoding));
  }

  keep(file: Pick<CacheableFile, 'bodyKey'>, body: Body): void {
    this.#bodies.set(file.bodyKey(body.encoding), body);
  }

  /** Reads a body, and compresses it if compression saves bytes. @throws DocshelfError `cannot_read`, `release_damaged` */
  load(file: CacheableFile, encoding: Encoding): Promise<Body> {
    const key = file.bodyKey(encoding);
    const load = async (): Promise<Body> => {
      const body = await this.#make(file, encoding);
      this.#bodies.set(key, body);
      return body;
    };
    return this.#scheduler.run(load, { key: file.releaseDir, share: key });
  }

  siblingOf(file: CacheableFile, coding: Coding): Promise<Sibling | null> {
    const key = { key: file.releaseDir, share: `sibling ${file.bodyKey(coding)}` };
    return this.#scheduler.run(() => file.findSibling(coding), key);
  }

  async #make(file: CacheableFile, encoding: Encoding): Promise<Body> {
    const sibling = encoding === 'identity' ? null : await file.findSibling(encoding);
    if (sibling !== null) return { encoding, tag: sibling.tag, bytes: await readSiteFile(sibling.onDisk) };
    const bytes = this.get(file, 'identity')?.bytes ?? (await file.read());
    const plain = { ...FORMS.identity, bytes };
    if (encoding === 'identity' || !isCompressible(file.type, bytes)) return plain;
    const compressed = await compress(bytes, encoding);
    return compressed.length < bytes.length ? { ...FORMS[encoding], bytes: compressed } : plain;
  }
}

type ByteStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Maximum concurrent streams, because Brotli takes about 10 MiB for each stream. */
const STREAMS_MAX = 8;

export class StreamCompressor {
  readonly #bodies: BodyCache;
  #streams = 0;

  constructor(bodies: BodyCache) {
    this.#bodies = bodies;
  }

  get isFull(): boolean {
    return this.#streams >= STREAMS_MAX;
  }

  /** Compresses a stream. Passes errors of the source to the reader. If the reader cancels the stream, the source ends. */
  compress(file: Pick<CacheableFile, 'bodyKey'>, source: ByteStream, encoding: Coding): ByteStream {
    const compressor = compressorOf(encoding);
    this.#streams++;
    compressor.once('close', () => {
      this.#streams--;
    });
    pipeline(Readable.fromWeb(source as Parameters<typeof Readable.fromWeb>[0]), compressor, () => undefined);
    const stream = Readable.toWeb(compressor, { strategy: { highWaterMark: 1 } }) as ByteStream;
    const { bodyBytesMax } = this.#bodies;
    let kept: Buffer<ArrayBuffer>[] = [];
    let bytes = 0;
    compressor.on('data', (chunk: Buffer<ArrayBuffer>) => {
      bytes += chunk.length;
      if (bytes <= bodyBytesMax) kept.push(chunk);
      else kept = [];
    });
    compressor.once('end', () => {
      if (bytes <= bodyBytesMax) this.#bodies.keep(file, { ...FORMS[encoding], bytes: Buffer.concat(kept) });
    });
    return stream;
  }
}
