import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { gzipSync } from 'node:zlib';
import { type HashedAsset, hashedAsset } from './hashed-asset.ts';

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
