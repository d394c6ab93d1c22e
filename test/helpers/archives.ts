/** Writers of raw archives. They also write invalid headers, which no honest tool writes. */
import { constants, crc32, deflateRawSync, gzipSync, zstdCompressSync } from 'node:zlib';

export interface TarMemberSpec {
  readonly name: string | Buffer;
  readonly body?: string | Buffer;
  /** One character. The default is `0` (a file), or `5` if the name ends in a slash. */
  readonly type?: string;
  /** Value of the size field. The default is the size of the body. */
  readonly size?: number;
  /** The size field itself, 12 bytes. */
  readonly sizeField?: Buffer;
  readonly linkName?: string;
  readonly wrongChecksum?: boolean;
  /** `v7` has no magic. The default is `ustar`. */
  readonly magic?: 'ustar' | 'gnu' | 'v7';
}

const BLOCK = 512;
export const TAR_END = Buffer.alloc(2 * BLOCK);

export function tarMember(spec: TarMemberSpec): Buffer {
  const header = Buffer.alloc(BLOCK);
  const name = Buffer.from(spec.name as string);
  const body = Buffer.from((spec.body ?? '') as string);
  const type = spec.type ?? (name.at(-1) === 0x2f ? '5' : '0');
  name.copy(header, 0, 0, 100);
  header.write('0000600\0', 100);
  header.write('0000000\0', 108);
  header.write('0000000\0', 116);
  (spec.sizeField ?? Buffer.from(`${(spec.size ?? body.length).toString(8).padStart(11, '0')}\0`)).copy(header, 124);
  header.write('00000000000\0', 136);
  header.write(type, 156, 'latin1');
  header.write(spec.linkName ?? '', 157);
  if (spec.magic !== 'v7') header.write(spec.magic === 'gnu' ? 'ustar  \0' : 'ustar\x0000', 257, 'latin1');
  header.fill(' ', 148, 156);
  const sum = header.reduce((total, byte) => total + byte, spec.wrongChecksum ? 1 : 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return Buffer.concat([header, body, Buffer.alloc((BLOCK - (body.length % BLOCK)) % BLOCK)]);
}

/** One PAX record with its correct length. */
export function paxRecord(key: string, value: string | Buffer): Buffer {
  const rest = Buffer.concat([Buffer.from(` ${key}=`), Buffer.from(value as string), Buffer.from('\n')]);
  let length = rest.length + 1;
  while (String(length).length + rest.length !== length) length += 1;
  return Buffer.concat([Buffer.from(String(length)), rest]);
}

/** PAX header with these records. Type `g` applies to all later entries. */
export function paxMember(records: Buffer, type: 'x' | 'g' = 'x'): Buffer {
  return tarMember({ name: 'PaxHeader', body: records, type });
}

/** Long name in GNU's format, before its entry. */
export function longNameMember(name: string | Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name as string), Buffer.alloc(1)]);
  return tarMember({ name: '././@LongLink', body, type: 'L', magic: 'gnu' });
}

/** Tar of members and specs, with both end blocks and no padding after them. */
export function rawTar(members: readonly (TarMemberSpec | Buffer)[], end: Buffer = TAR_END): Buffer {
  return Buffer.concat([...members.map((member) => (Buffer.isBuffer(member) ? member : tarMember(member))), end]);
}

export function gz(bytes: Buffer): Buffer {
  return gzipSync(bytes);
}

/** One zstd frame with a checksum. */
export function zst(bytes: Buffer, windowLog?: number): Buffer {
  const params: Record<number, number> = { [constants.ZSTD_c_checksumFlag]: 1 };
  if (windowLog !== undefined) params[constants.ZSTD_c_windowLog] = windowLog;
  return zstdCompressSync(bytes, { params });
}

/** A skippable zstd frame (RFC 8878, section 3.1.2). */
export function zstSkippable(body: Buffer): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt32LE(0x184d2a53, 0);
  header.writeUInt32LE(body.length, 4);
  return Buffer.concat([header, body]);
}

export interface ZipHeaderSpec {
  readonly flags: number;
  readonly method: number;
  readonly crc: number;
  readonly compressedSize: number;
  readonly size: number;
  readonly name: Buffer;
  readonly extra: Buffer;
}

export interface ZipMemberSpec {
  readonly name: string | Buffer;
  readonly body?: string | Buffer;
  /** The default is 8 (deflated). */
  readonly method?: number;
  readonly flags?: number;
  /** Unix mode. The default is `0o100600`. */
  readonly mode?: number;
  /** Stored data. The default is the body, deflated if the method is 8. */
  readonly data?: Buffer;
  readonly extra?: Buffer;
  readonly comment?: Buffer;
  readonly disk?: number;
  /** Wrong values of the central header. */
  readonly central?: Partial<ZipHeaderSpec> & { readonly localStart?: number; readonly extraLength?: number };
  /** Wrong values of the local header. */
  readonly local?: Partial<ZipHeaderSpec> & { readonly signature?: number };
  /** Writes no local record: `central.localStart` names another one. */
  readonly centralOnly?: boolean;
  /** Writes 0 as the local sizes and appends these bytes to the data, or the correct descriptor if it is `true`. */
  readonly descriptor?: Buffer | true;
}

export interface ZipEndSpec {
  readonly entries?: number;
  readonly entriesOnDisk?: number;
  readonly disk?: number;
  readonly directoryStart?: number;
  readonly comment?: Buffer;
  readonly commentLength?: number;
  /** Bytes between the central directory and the end record, such as a ZIP64 record and its locator. */
  readonly before?: (directory: { start: number; bytes: number; entries: number }) => Buffer;
}

function headerOf(spec: ZipMemberSpec): { header: ZipHeaderSpec; data: Buffer } {
  const body = Buffer.from((spec.body ?? '') as string);
  const method = spec.method ?? 8;
  const data = spec.data ?? (method === 8 ? deflateRawSync(body) : body);
  const header = {
    flags: (spec.flags ?? 0x800) | (spec.descriptor === undefined ? 0 : 8),
    method,
    crc: crc32(body),
    compressedSize: data.length,
    size: body.length,
    name: Buffer.from(spec.name as string),
    extra: spec.extra ?? Buffer.alloc(0),
  };
  return { header, data };
}

/** Local header and data of an entry. */
export function zipLocal(spec: ZipMemberSpec): Buffer {
  const { header: honest, data } = headerOf(spec);
  const unknown = spec.descriptor === undefined ? {} : { crc: 0, compressedSize: 0, size: 0 };
  const header = { ...honest, ...unknown, ...spec.local };
  const fixed = Buffer.alloc(30);
  fixed.writeUInt32LE(spec.local?.signature ?? 0x04034b50, 0);
  fixed.writeUInt16LE(20, 4);
  fixed.writeUInt16LE(header.flags, 6);
  fixed.writeUInt16LE(header.method, 8);
  fixed.writeUInt32LE(header.crc, 14);
  fixed.writeUInt32LE(header.compressedSize, 18);
  fixed.writeUInt32LE(header.size, 22);
  fixed.writeUInt16LE(header.name.length, 26);
  fixed.writeUInt16LE(header.extra.length, 28);
  const descriptor = spec.descriptor === true ? zipDescriptor(honest) : (spec.descriptor ?? Buffer.alloc(0));
  return Buffer.concat([fixed, header.name, header.extra, data, descriptor]);
}

/** Data descriptor with its signature. */
export function zipDescriptor(header: Pick<ZipHeaderSpec, 'crc' | 'compressedSize' | 'size'>): Buffer {
  const bytes = Buffer.alloc(16);
  bytes.writeUInt32LE(0x08074b50, 0);
  bytes.writeUInt32LE(header.crc, 4);
  bytes.writeUInt32LE(header.compressedSize, 8);
  bytes.writeUInt32LE(header.size, 12);
  return bytes;
}

function centralRecord(spec: ZipMemberSpec, localStart: number): Buffer {
  const header = { ...headerOf(spec).header, ...spec.central };
  const comment = spec.comment ?? Buffer.alloc(0);
  const fixed = Buffer.alloc(46);
  fixed.writeUInt32LE(0x02014b50, 0);
  fixed.writeUInt16LE((3 << 8) | 20, 4);
  fixed.writeUInt16LE(20, 6);
  fixed.writeUInt16LE(header.flags, 8);
  fixed.writeUInt16LE(header.method, 10);
  fixed.writeUInt32LE(header.crc, 16);
  fixed.writeUInt32LE(header.compressedSize, 20);
  fixed.writeUInt32LE(header.size, 24);
  fixed.writeUInt16LE(header.name.length, 28);
  fixed.writeUInt16LE(spec.central?.extraLength ?? header.extra.length, 30);
  fixed.writeUInt16LE(comment.length, 32);
  fixed.writeUInt16LE(spec.disk ?? 0, 34);
  fixed.writeUInt32LE(((spec.mode ?? 0o100600) << 16) >>> 0, 38);
  fixed.writeUInt32LE(spec.central?.localStart ?? localStart, 42);
  return Buffer.concat([fixed, header.name, header.extra, comment]);
}

export function zipEnd(directory: { start: number; bytes: number; entries: number }, spec: ZipEndSpec = {}): Buffer {
  const comment = spec.comment ?? Buffer.alloc(0);
  const fixed = Buffer.alloc(22);
  fixed.writeUInt32LE(0x06054b50, 0);
  fixed.writeUInt16LE(spec.disk ?? 0, 4);
  fixed.writeUInt16LE(spec.disk ?? 0, 6);
  fixed.writeUInt16LE(spec.entriesOnDisk ?? spec.entries ?? directory.entries, 8);
  fixed.writeUInt16LE(spec.entries ?? directory.entries, 10);
  fixed.writeUInt32LE(directory.bytes, 12);
  fixed.writeUInt32LE(spec.directoryStart ?? directory.start, 16);
  fixed.writeUInt16LE(spec.commentLength ?? comment.length, 20);
  return Buffer.concat([fixed, comment]);
}

/** A ZIP64 end record and its locator, for `ZipEndSpec.before`. */
export function zip64End(
  directory: { start: number; bytes: number; entries: number },
  falseValues: { entries?: bigint } = {},
): Buffer {
  const record = Buffer.alloc(56);
  const entries = falseValues.entries ?? BigInt(directory.entries);
  record.writeUInt32LE(0x06064b50, 0);
  record.writeBigUInt64LE(44n, 4);
  record.writeBigUInt64LE(entries, 24);
  record.writeBigUInt64LE(entries, 32);
  record.writeBigUInt64LE(BigInt(directory.bytes), 40);
  record.writeBigUInt64LE(BigInt(directory.start), 48);
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50, 0);
  locator.writeBigUInt64LE(BigInt(directory.start + directory.bytes), 8);
  locator.writeUInt32LE(1, 16);
  return Buffer.concat([record, locator]);
}

/** Extra field of a zip header. */
export function zipExtra(id: number, body: Buffer): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt16LE(id, 0);
  header.writeUInt16LE(body.length, 2);
  return Buffer.concat([header, body]);
}

export function rawZip(members: readonly ZipMemberSpec[], end: ZipEndSpec = {}): Buffer {
  const locals: Buffer[] = [];
  const centrals: Buffer[] = [];
  let start = 0;
  for (const member of members) {
    const local = member.centralOnly ? Buffer.alloc(0) : zipLocal(member);
    locals.push(local);
    centrals.push(centralRecord(member, start));
    start += local.length;
  }
  const directory = { start, bytes: Buffer.concat(centrals).length, entries: members.length };
  const before = end.before?.(directory) ?? Buffer.alloc(0);
  return Buffer.concat([...locals, ...centrals, before, zipEnd(directory, end)]);
}

/** Small valid site: two pages, a folder entry, a script, and a page in its own folder. */
export const SITE_FILES: Readonly<Record<string, string>> = {
  'index.html': '<!doctype html><title>Home</title><p>Welcome.</p>',
  'guides/start.html': `<!doctype html><title>Start</title>${'<p>Begin here.</p>'.repeat(40)}`,
  'assets/app.js': 'console.log("hello");\n',
  'empty.txt': '',
};

export function siteTar(): Buffer {
  const files = Object.entries(SITE_FILES).map(([name, body]) => ({ name: `./${name}`, body }));
  return rawTar([{ name: './' }, { name: './guides/' }, ...files]);
}

export function siteZip(): Buffer {
  const files = Object.entries(SITE_FILES).map(([name, body]) => ({ name, body }));
  return rawZip([{ name: 'guides/', mode: 0o040700, method: 0 }, ...files]);
}

export const ARCHIVE_FORMATS = ['tar', 'tar.gz', 'tar.zst', 'zip'] as const;

/** The same small site in each format. */
export function siteArchive(format: (typeof ARCHIVE_FORMATS)[number]): Buffer {
  if (format === 'zip') return siteZip();
  const tar = siteTar();
  return format === 'tar' ? tar : format === 'tar.gz' ? gz(tar) : zst(tar);
}
