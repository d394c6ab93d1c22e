import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { OWN_HEADERS } from '../domain/own-headers.ts';
import { negotiateEncoding } from '../site/encoding.ts';

export interface HashedAsset {
  /** File name with a digest, such as `shelf-3f9ab2c41d7e0856.css`. */
  readonly name: string;
  readonly type: string;
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
  /** File compressed with Brotli. Present only if a page has to wait for the file. */
  readonly brotli?: Uint8Array<ArrayBuffer>;
}

/** Response that caches can store for ever. For HEAD, the framework removes its body. */
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

export const BASE_STYLE = new URL('assets/base.css', import.meta.url);

export const ICON = new URL('site/assets/shelf.svg', import.meta.url);

/** Reads a file of docshelf, and adds a digest to its name. @param before file whose content comes first in the same response */
export function ownAsset(file: URL, before: URL | null = null): HashedAsset {
  const bytes = Buffer.concat([...(before === null ? [] : [readFileSync(before)]), readFileSync(file)]);
  const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const { name, ext } = posix.parse(file.pathname);
  return { name: `${name}-${digest}${ext}`, type: TYPES[ext] ?? '', bytes, gzipped: gzipSync(bytes, { level: 9 }) };
}
