import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';
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
function hashedAsset(
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

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** What styles of docshelf's own pages begin with. */
export const BASE_STYLE = new URL('assets/base.css', import.meta.url);

/** Beside their names, and in the browser's tab. */
export const ICON = new URL('site/assets/shelf.svg', import.meta.url);

/** A file of docshelf's own pages. @param before stands before it, in the same answer */
export function ownAsset(file: URL, before: URL | null = null): HashedAsset {
  const bytes = Buffer.concat([...(before === null ? [] : [readFileSync(before)]), readFileSync(file)]);
  const type = TYPES[posix.extname(file.pathname)] ?? '';
  return hashedAsset(posix.basename(file.pathname), { type, bytes, gzipped: gzipSync(bytes, { level: 9 }) });
}
