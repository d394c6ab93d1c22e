import { createHash } from 'node:crypto';
import { negotiateEncoding } from '../serve/encoding.ts';
import { OWN_HEADERS } from '../serve/index.ts';

/** A file of docshelf's own pages, under a name that changes with its content. */
export interface HashedAsset {
  /** `shelf-3f9ab2c41d7e0856.css` */
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  /** Where a page waits for it. */
  readonly brotli?: Uint8Array<ArrayBuffer>;
}

/** @param fileName `shelf.css` */
export function hashedAsset(
  fileName: string,
  { bytes, ...rest }: Pick<HashedAsset, 'type' | 'bytes' | 'gzipped'>,
): HashedAsset {
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  return { name: fileName.replace(/\.(\w+)$/, `-${digest}.$1`), bytes, ...rest };
}

/** 200, cacheable for good; the framework leaves the body out for HEAD. */
export function answerAsset(
  { type, bytes, gzipped, brotli }: HashedAsset,
  acceptEncoding: string | undefined,
): Response {
  const accepted = acceptEncoding ?? '';
  const made = negotiateEncoding(accepted) === 'br' ? brotli : undefined;
  const coding = made !== undefined ? 'br' : /\bgzip\b/.test(accepted) ? 'gzip' : null;
  const body = made ?? (coding === null ? bytes : gzipped);
  return new Response(body, {
    headers: {
      'Content-Type': type,
      'Content-Length': String(body.length),
      'Cache-Control': 'public, max-age=31536000, immutable',
      Vary: 'Accept-Encoding',
      ...OWN_HEADERS,
      ...(coding === null ? {} : { 'Content-Encoding': coding }),
    },
  });
}
