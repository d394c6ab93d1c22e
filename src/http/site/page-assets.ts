import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { type HashedAsset, hashedAsset } from '../hashed-asset.ts';

const TYPES = {
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const;

/** Of docshelf's own pages. @param name in `assets/` */
export function pageAsset(name: string, type: keyof typeof TYPES): HashedAsset {
  const bytes = readFileSync(new URL(`assets/${name}.${type}`, import.meta.url));
  return hashedAsset(`${name}.${type}`, { type: TYPES[type], bytes, gzipped: gzipSync(bytes) });
}
