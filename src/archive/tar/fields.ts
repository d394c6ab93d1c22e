/** POSIX.1-2024, pax, "ustar Interchange Format". */

export const TAR_BLOCK_BYTES = 512;

const CHECKSUM_AT = 148;
const CHECKSUM_BYTES = 8;
const SPACE = 0x20;

interface TarHeader {
  /** Prefix and name joined, as bytes: decoding is the caller's. */
  readonly name: Buffer;
  /** Bytes of the body; null if the field is no number. */
  readonly size: number | null;
  /** One character; `0` for the NUL of old tars. */
  readonly type: string;
}

export function isZeroBlock(block: Uint8Array): boolean {
  return block.every((byte) => byte === 0);
}

/** True for ustar, pax and GNU tar, whatever the checksum; tars older than 1988 carry none. */
export function hasTarMagic(block: Buffer): boolean {
  return block.subarray(257, 262).equals(Buffer.from('ustar'));
}

/** Checks the checksum: the sum of the block's bytes, the checksum's own taken as spaces. */
export function isTarHeader(block: Uint8Array): boolean {
  let sum = CHECKSUM_BYTES * SPACE;
  for (let at = 0; at < TAR_BLOCK_BYTES; at += 1) {
    if (at < CHECKSUM_AT || at >= CHECKSUM_AT + CHECKSUM_BYTES) sum += block[at] ?? 0;
  }
  return sum === readNumber(Buffer.from(block.subarray(CHECKSUM_AT, CHECKSUM_AT + CHECKSUM_BYTES)));
}

export function readHeader(block: Buffer): TarHeader {
  const isUstar = block.subarray(257, 263).equals(Buffer.from('ustar\0'));
  const name = untilNul(block.subarray(0, 100));
  const prefix = isUstar ? untilNul(block.subarray(345, 500)) : Buffer.alloc(0);
  const type = block[156] === 0 ? '0' : String.fromCharCode(block[156] ?? 0);
  return {
    name: prefix.length === 0 ? Buffer.from(name) : Buffer.concat([prefix, Buffer.from('/'), name]),
    size: readNumber(block.subarray(124, 136)),
    type,
  };
}

/** Octal digits between spaces and NULs, or GNU's base-256 behind 0x80; else null. */
function readNumber(field: Buffer): number | null {
  if (field[0] === 0x80) {
    const value = BigInt(`0x${field.subarray(1).toString('hex')}`);
    return value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : null;
  }
  const match = /^ *([0-7]*)[ \0]*$/.exec(field.toString('latin1'));
  return match === null ? null : Number.parseInt(match[1] || '0', 8);
}

export function untilNul(bytes: Buffer): Buffer {
  const end = bytes.indexOf(0);
  return end < 0 ? bytes : bytes.subarray(0, end);
}

/** Records of `<length> <key>=<value>` and a newline. The last one of a key wins; null if a length is wrong. */
export function readPaxRecords(payload: Buffer): Map<string, Buffer> | null {
  const records = new Map<string, Buffer>();
  for (let at = 0; at < payload.length; ) {
    const space = payload.indexOf(SPACE, at);
    const digits = space < 0 ? '' : payload.toString('latin1', at, space);
    if (!/^[1-9][0-9]{0,9}$/.test(digits)) return null;
    const end = at + Number(digits);
    const equals = payload.indexOf('=', space);
    if (end > payload.length || payload[end - 1] !== 0x0a || equals < 0 || equals >= end - 1) return null;
    records.set(payload.toString('utf8', space + 1, equals), payload.subarray(equals + 1, end - 1));
    at = end;
  }
  return records;
}
