import { isTextType } from './media-type.ts';

const SHRINKING = new Set(
  [
    'application/wasm application/vnd.ms-fontobject font/ttf font/otf font/collection',
    'image/bmp image/x-icon image/vnd.microsoft.icon',
  ].flatMap((types) => types.split(' ')),
);

/** First bytes of compressed files, whatever their names: Pagefind's are gzip inside. */
const COMPRESSED_MAGIC: readonly (readonly number[])[] = [
  [0x1f, 0x8b], // gzip
  [0x28, 0xb5, 0x2f, 0xfd], // zstd
  [0x50, 0x4b, 0x03, 0x04], // zip
  [0x42, 0x5a, 0x68], // bzip2
  [0xfd, 0x37, 0x7a, 0x58, 0x5a], // xz
  [0x89, 0x50, 0x4e, 0x47], // PNG
  [0xff, 0xd8, 0xff], // JPEG
  [0x77, 0x4f, 0x46], // WOFF and WOFF2
];

export function isCompressibleType(type: string): boolean {
  const end = type.indexOf(';');
  return isTextType(type) || SHRINKING.has(end === -1 ? type : type.slice(0, end).trimEnd());
}

export function isCompressible(type: string, head: Uint8Array): boolean {
  if (!isCompressibleType(type)) return false;
  return !COMPRESSED_MAGIC.some((magic) => magic.every((byte, at) => head[at] === byte));
}
