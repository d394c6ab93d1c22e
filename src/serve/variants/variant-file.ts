import { type FileHandle, open, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { type Coding, FORMS, type Form } from '../encoding.ts';
import type { SiteFileOnDisk } from '../site-bytes.ts';

/** The folder of a release's compressed forms: one file for each content and coding. Derived, and never served unchecked. */
export const VARIANTS = 'variants';
/** Says that all is made, of this format; written last. */
const MADE_FILE = 'made';
/** Raised where other bytes are made (levels, codings, files chosen): of another format, none is sent or linked. */
export const VARIANTS_FORMAT = 'DSV3';

/** Format, length of the body (a double), its CRC-32; little-endian. So a file is whole or none, without a table. */
export const HEADER_BYTES = 16;
export const CHUNK_BYTES = 256 * 1024;
export const EXTENSION: Readonly<Record<Coding, string>> = { gzip: 'gz', br: 'br', zstd: 'zst' };

export interface Variant extends Form {
  /** With its header. */
  readonly onDisk: SiteFileOnDisk;
  /** Without it. */
  readonly size: number;
  /** CRC-32 that the bytes should have. */
  readonly crc: number;
}

export function variantName(sha256: string, coding: Coding): string {
  return `${sha256}.${EXTENSION[coding]}`;
}

export function variantHeader(bytes: number, crc: number): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write(VARIANTS_FORMAT, 'latin1');
  header.writeDoubleLE(bytes, 4);
  header.writeUInt32LE(crc, 12);
  return header;
}

/** The CRC-32 that the header says; null where it does not fit the file. */
export function crcOf(header: Buffer, fileBytes: number): number | null {
  if (header.length < HEADER_BYTES || header.toString('latin1', 0, 4) !== VARIANTS_FORMAT) return null;
  return header.readDoubleLE(4) === fileBytes - HEADER_BYTES ? header.readUInt32LE(12) : null;
}

const variantOf = (file: string, size: number, coding: Coding, crc: number): Variant => ({
  onDisk: { diskPath: file, size: size + HEADER_BYTES },
  size,
  crc,
  encoding: coding,
  tag: `${FORMS[coding].tag}-${crc.toString(16).padStart(8, '0')}`,
});

/** By its header and size alone; null where there is none, or none that is whole. Never rejects. */
export async function findVariant(releaseDir: string, sha256: string, coding: Coding): Promise<Variant | null> {
  const file = join(releaseDir, VARIANTS, variantName(sha256, coding));
  let handle: FileHandle | null = null;
  try {
    handle = await open(file);
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEADER_BYTES), 0, HEADER_BYTES, 0);
    const { size } = await handle.stat();
    const crc = crcOf(buffer.subarray(0, bytesRead), size);
    if (crc === null) await forgetMade(releaseDir);
    return crc === null ? null : variantOf(file, size - HEADER_BYTES, coding, crc);
  } catch {
    return null;
  } finally {
    await handle?.close().catch(() => undefined);
  }
}

/** Its bytes, checked; null as `findVariant`. Never rejects. */
export async function readVariant(
  releaseDir: string,
  sha256: string,
  coding: Coding,
): Promise<(Form & { readonly bytes: Buffer<ArrayBuffer> }) | null> {
  const file = join(releaseDir, VARIANTS, variantName(sha256, coding));
  const all = await readFile(file).catch(() => null);
  if (all === null) return null;
  const crc = crcOf(all, all.length);
  const bytes = all.subarray(HEADER_BYTES);
  if (crc !== null && crc32(bytes) === crc) {
    const { encoding, tag } = variantOf(file, bytes.length, coding, crc);
    return { encoding, tag, bytes };
  }
  await forgetMade(releaseDir);
  return null;
}

/** True where nothing is left to make. */
export async function areMade(releaseDir: string): Promise<boolean> {
  return (await readFile(madeFile(releaseDir), 'latin1').catch(() => '')) === VARIANTS_FORMAT;
}

/** The next look makes anew what is damaged. */
async function forgetMade(releaseDir: string): Promise<void> {
  await rm(madeFile(releaseDir), { force: true }).catch(() => undefined);
}

export const madeFile = (releaseDir: string): string => join(releaseDir, VARIANTS, MADE_FILE);
