import { isSkippableMagic, ZSTD_MAGIC } from './compression/zstd.ts';
import type { ArchiveFormat } from './listing.ts';
import type { Refuse } from './rules.ts';
import { isTarHeader, isZeroBlock, TAR_BLOCK_BYTES } from './tar/fields.ts';

/** Bytes from an archive's beginning that tell its format: one tar header. */
export const DETECT_BYTES = TAR_BLOCK_BYTES;

const ANOTHER_FORMAT = 'Unpack it and pack it again as .tar.gz, .tar.zst or .zip.';
const NOT_THE_BUNDLE =
  'The link gave something else than the bundle, perhaps the page of a proxy or a sign-in: open it, and fetch the bundle anew.';

const starts = (...bytes: number[]) => Buffer.from(bytes);

const LOOKALIKES: readonly (readonly [looks: string, begins: Buffer | RegExp, next: string])[] = [
  ['an HTML page', /^\uFEFF?\s*<(?:!doctype\s+html|html|head|body|!--)/i, NOT_THE_BUNDLE],
  ['an XML document', /^\uFEFF?\s*<\?xml|^\s*<Error>/i, NOT_THE_BUNDLE],
  ['a JSON document', /^\uFEFF?\s*[{[]/, NOT_THE_BUNDLE],
  ['a Git LFS pointer', /^version https:\/\/git-lfs/, 'Fetch the file itself: git lfs pull.'],
  ['an xz archive', starts(0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00), ANOTHER_FORMAT],
  ['a bzip2 archive', /^BZh[1-9]/, ANOTHER_FORMAT],
  ['a 7z archive', starts(0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c), ANOTHER_FORMAT],
  ['a rar archive', /^Rar!/, ANOTHER_FORMAT],
  ['an lz4 archive', starts(0x04, 0x22, 0x4d, 0x18), ANOTHER_FORMAT],
  ['a compress (.Z) archive', starts(0x1f, 0x9d), ANOTHER_FORMAT],
];

/** The format of an archive by its first `DETECT_BYTES` bytes, whatever its name; else `unknown_format`. */
export function detectFormat(head: Buffer, refuse: Refuse): ArchiveFormat {
  if (head.length === 0) throw refuse('unknown_format', 'it is empty', { next: NOT_THE_BUNDLE });
  if (head.length >= 4) {
    if (head[0] === 0x1f && head[1] === 0x8b) return 'tar.gz';
    const magic = head.readUInt32LE(0);
    if (magic === ZSTD_MAGIC || isSkippableMagic(magic)) return 'tar.zst';
    // `PK` and a record's type: a local header, the end record of an empty zip, the marker of a split one.
    if (magic === 0x04034b50 || magic === 0x06054b50 || magic === 0x08074b50) return 'zip';
  }
  if (head.length >= TAR_BLOCK_BYTES && (isTarHeader(head) || isZeroBlock(head))) return 'tar';

  const text = head.toString('utf8');
  for (const [looks, begins, next] of LOOKALIKES) {
    const matches = begins instanceof RegExp ? begins.test(text) : head.subarray(0, begins.length).equals(begins);
    if (matches) throw refuse('unknown_format', `it is ${looks}, not a tar, tar.gz, tar.zst or zip archive`, { next });
  }
  throw refuse('unknown_format', 'it is no tar, tar.gz, tar.zst or zip archive');
}
