import { pipeline, Readable } from 'node:stream';
import { constants, createBrotliCompress, createGzip, createZstdCompress } from 'node:zlib';
import { type BodyCache, BROTLI_QUALITY, GZIP_LEVEL } from './body-cache.ts';
import { type Coding, FORMS } from './encoding.ts';
import type { SiteFile } from './site-file.ts';

type ByteStream = ReadableStream<Uint8Array<ArrayBuffer>>;

/** At a time: Brotli takes some 10 MiB for each. */
const STREAMS_MAX = 8;

/** Files over the bound of one body, compressed in the threads of libuv as their clients read them. */
export class StreamCompressor {
  readonly #bodies: BodyCache;
  #streams = 0;

  /** @param bodies keeps what turns out small */
  constructor(bodies: BodyCache) {
    this.#bodies = bodies;
  }

  get isFull(): boolean {
    return this.#streams >= STREAMS_MAX;
  }

  /** Errors of the source are its own; cancelling it ends the source. */
  compress(file: SiteFile, source: ByteStream, encoding: Coding): ByteStream {
    const compressor = compressorOf(encoding);
    this.#streams++;
    compressor.once('close', () => {
      this.#streams--;
    });
    // Its errors come out of the iterator.
    pipeline(Readable.fromWeb(source as Parameters<typeof Readable.fromWeb>[0]), compressor, () => undefined);
    const chunks: AsyncIterator<Buffer<ArrayBuffer>> = compressor[Symbol.asyncIterator]();
    const { bodyBytesMax } = this.#bodies;
    let kept: Buffer<ArrayBuffer>[] = [];
    let bytes = 0;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: async (controller) => {
        const next = await chunks.next();
        if (next.done === true) {
          if (bytes <= bodyBytesMax) this.#bodies.keep(file, { ...FORMS[encoding], bytes: Buffer.concat(kept) });
          controller.close();
          return;
        }
        bytes += next.value.length;
        if (bytes <= bodyBytesMax) kept.push(next.value);
        else kept = [];
        controller.enqueue(next.value);
      },
      cancel: () => {
        compressor.destroy();
      },
    });
  }
}

function compressorOf(coding: Coding) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
  if (coding === 'zstd') return createZstdCompress();
  return coding === 'gzip' ? createGzip({ level: GZIP_LEVEL }) : createBrotliCompress({ params });
}
