import { promisify } from 'node:util';
import {
  brotliCompress,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  gzip,
  zstdCompress,
} from 'node:zlib';
import { prefersType, weightsOf } from '../web/media-type.ts';

export type Coding = 'gzip' | 'br' | 'zstd';
export type Encoding = 'identity' | Coding;

export interface Form {
  readonly encoding: Encoding;
  /** Suffix of the entity tag, because a strong tag must differ if the bytes differ (RFC 9110, section 8.8.3). */
  readonly tag: string;
}

export const FORMS: Readonly<Record<Encoding, Form>> = {
  identity: { encoding: 'identity', tag: '' },
  gzip: { encoding: 'gzip', tag: '-gz' },
  br: { encoding: 'br', tag: '-br' },
  zstd: { encoding: 'zstd', tag: '-zst' },
};

const UNWEIGHTED = /^[a-z-]+(?:, ?[a-z-]+)*$/;
const HAS_BR = /(?:^|[ ,])br(?:,|$)/;
const HAS_ZSTD = /(?:^|[ ,])zstd(?:,|$)/;
const HAS_GZIP = /(?:^|[ ,])gzip(?:,|$)/;

/** Selects the coding with the highest weight (RFC 9110, section 12.5.3). Equal weights: Brotli, then Zstandard, then gzip. */
export function negotiateEncoding(accept: string | undefined): Encoding {
  if (accept === undefined || accept === '') return 'identity';
  if (UNWEIGHTED.test(accept)) {
    if (HAS_BR.test(accept)) return 'br';
    if (HAS_ZSTD.test(accept)) return 'zstd';
    if (HAS_GZIP.test(accept)) return 'gzip';
  }
  // `x-gzip` is an older name of `gzip` (RFC 9110, section 8.4.1.3).
  const weights = weightsOf(accept.replaceAll(/x-gzip/gi, 'gzip'), 0);
  const rest = weights.get('*');
  // Do not apply `*` to Zstandard, because a client that does not name this new coding may not support it.
  const of = (coding: Coding): number => weights.get(coding) ?? (coding === 'zstd' ? 0 : (rest ?? 0));
  // If Accept-Encoding does not list identity, identity is acceptable, but comes after all codings that the client accepts.
  const identity = weights.get('identity') ?? (rest === 0 ? 0 : Number.MIN_VALUE);
  const most = Math.max(of('br'), of('zstd'), of('gzip'));
  if (most === 0 || most < identity) return 'identity';
  return (['br', 'zstd'] as const).find((coding) => of(coding) === most) ?? 'gzip';
}

const brotliAsync = promisify(brotliCompress);
const gzipAsync = promisify(gzip);
const zstdAsync = promisify(zstdCompress);

/** Size and rate for 16 MB of pages: Brotli level 5 12.4 % (95 MB/s), 6 12.3 % (74 MB/s), 9 12.1 % (6 MB/s); gzip 6 14.6 %. */
const BROTLI_QUALITY = 5;
const GZIP_LEVEL = 6;

export async function compress(bytes: Uint8Array, coding: Coding): Promise<Buffer<ArrayBuffer>> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  const compressing =
    coding === 'br'
      ? brotliAsync(bytes, { params })
      : coding === 'gzip'
        ? gzipAsync(bytes, { level: GZIP_LEVEL })
        : zstdAsync(bytes);
  const compressed = await compressing;
  // zlib returns a view of a 16 KiB chunk, so without a copy, the cache would keep 16 KiB even for a small page.
  const exact = Buffer.allocUnsafeSlow(compressed.length);
  compressed.copy(exact);
  return exact;
}

export function compressorOf(coding: Coding) {
  if (coding === 'zstd') return createZstdCompress();
  if (coding === 'gzip') return createGzip({ level: GZIP_LEVEL });
  return createBrotliCompress({ params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } });
}

/** Minimum size to compress. A smaller body fits into one packet, so compression saves no time. */
export const COMPRESSED_BYTES_MIN = 1024;

export async function encodedBody(bytes: Uint8Array<ArrayBuffer>, wanted: Encoding) {
  const encoding = bytes.length < COMPRESSED_BYTES_MIN ? 'identity' : wanted;
  const body = encoding === 'identity' ? bytes : await compress(bytes, encoding);
  const coding: Record<string, string> = encoding === 'identity' ? {} : { 'Content-Encoding': encoding };
  return { body, headers: { 'Content-Length': String(body.length), ...coding } };
}

const MARKDOWN = 'text/markdown';

/** True for assistants, which accept Markdown and HTML. Browsers never list Markdown in `Accept`. */
export const prefersMarkdown = (accept: string | undefined): boolean =>
  accept !== undefined && prefersType(accept, MARKDOWN, 'text/html');
