import { crc32 } from 'node:zlib';

/** The extra fields of a zip header (APPNOTE.TXT 4.5). */

const ZIP64 = 0x0001;
/** Info-ZIP's Unicode path: version, CRC of the name as written, the name in UTF-8 (APPNOTE.TXT 4.6.9). */
const UNICODE_PATH = 0x7075;

export type ExtraFields = ReadonlyMap<number, Buffer>;

/** The fields by their id, the first of each; null where a length lies or the ZIP64 field is there twice. */
export function readExtraFields(bytes: Buffer): ExtraFields | null {
  const fields = new Map<number, Buffer>();
  for (let at = 0; at < bytes.length; ) {
    if (at + 4 > bytes.length) return null;
    const id = bytes.readUInt16LE(at);
    const end = at + 4 + bytes.readUInt16LE(at + 2);
    if (end > bytes.length || (id === ZIP64 && fields.has(id))) return null;
    if (!fields.has(id)) fields.set(id, bytes.subarray(at + 4, end));
    at = end;
  }
  return fields;
}

/**
 * Replaces the numbers that are 0xffffffff by those of the ZIP64 field, in this order (APPNOTE.TXT 4.5.3). Null where
 * the field lacks one or numbers cannot hold it.
 */
export function resolveZip64(numbers: readonly number[], fields: ExtraFields): number[] | null {
  const field = fields.get(ZIP64) ?? Buffer.alloc(0);
  const resolved: number[] = [];
  let at = 0;
  for (const number of numbers) {
    if (number !== 0xffffffff) {
      resolved.push(number);
      continue;
    }
    if (at + 8 > field.length) return null;
    const value = field.readBigUInt64LE(at);
    if (value > BigInt(Number.MAX_SAFE_INTEGER)) return null;
    resolved.push(Number(value));
    at += 8;
  }
  return resolved;
}

/** The UTF-8 name of the Unicode path field, or null where there is none or it is about another name. */
export function unicodePath(name: Buffer, fields: ExtraFields): Buffer | null {
  const field = fields.get(UNICODE_PATH);
  if (field === undefined || field.length < 5 || field[0] !== 1) return null;
  return field.readUInt32LE(1) === crc32(name) ? field.subarray(5) : null;
}
