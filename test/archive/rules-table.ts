import type { ArchiveCode } from '../../src/archive/rules.ts';
import type { ArchiveLimits } from '../../src/domain/limits.ts';
import {
  type ARCHIVE_FORMATS,
  gz,
  paxMember,
  paxRecord,
  rawTar,
  rawZip,
  TAR_END,
  type TarMemberSpec,
  tarMember,
  type ZipMemberSpec,
  zip64End,
  zipLocal,
  zst,
} from '../helpers/archives.ts';

/** One archive per rule of archives.md and format that can break it. */

export type Format = (typeof ARCHIVE_FORMATS)[number];

export interface Refused {
  readonly bytes: Buffer;
  readonly code: ArchiveCode;
  readonly limits?: Partial<ArchiveLimits>;
  readonly foldsCase?: boolean;
  /** Only reading the content shows the fault. */
  readonly whileExtracting?: boolean;
}

/** An archive that must be rejected, or the reason why the format cannot break the rule. */
export type Cell = Refused | { readonly impossible: string };
export type Row = { readonly [format in Format]: Cell };

const PAGE = { name: 'index.html', body: '<p>Home</p>' };
const SECOND = { name: 'second.html', body: '<p>Second</p>' };

type Extra = Pick<Refused, 'limits' | 'foldsCase' | 'whileExtracting'>;

/** The same tar, uncompressed and with both compressions. */
function inTars(code: ArchiveCode, tar: Buffer, extra: Extra = {}): Omit<Row, 'zip'> {
  return {
    tar: { bytes: tar, code, ...extra },
    'tar.gz': { bytes: gz(tar), code, ...extra },
    'tar.zst': { bytes: zst(tar), code, ...extra },
  };
}

/** A page, followed by these entries, in each format. */
function everywhere(
  code: ArchiveCode,
  tar: readonly (TarMemberSpec | Buffer)[],
  zip: readonly ZipMemberSpec[],
  extra: Extra = {},
): Row {
  return { ...inTars(code, rawTar([PAGE, ...tar]), extra), zip: { bytes: rawZip([PAGE, ...zip]), code, ...extra } };
}

/** A page, followed by an entry with this name, in each format. */
function named(code: ArchiveCode, name: string | Buffer): Row {
  const raw = Buffer.from(name as string);
  // The name in a PAX record, because header fields have 100 bytes and end at a NUL.
  const tar = [paxMember(paxRecord('path', raw)), { name: 'short', body: 'x' }];
  return everywhere(code, tar, [{ name: raw, body: 'x' }]);
}

const NOT_IN_TAR = (reason: string) => ({
  tar: { impossible: reason },
  'tar.gz': { impossible: reason },
  'tar.zst': { impossible: reason },
});
const refused = (code: ArchiveCode, bytes: Buffer, extra: Extra = {}): Refused => ({ code, bytes, ...extra });

/** Applies `change` to a copy of the bytes. */
function changed(bytes: Buffer, change: (copy: Buffer) => void): Buffer {
  const copy = Buffer.from(bytes);
  change(copy);
  return copy;
}

const flip = (at: number) => (copy: Buffer) => {
  const index = at < 0 ? copy.length + at : at;
  copy[index] = (copy[index] ?? 0) ^ 1;
};

const html = Buffer.from('<!doctype html><title>502 Bad Gateway</title>'.padEnd(600, ' '));
const goodTar = rawTar([PAGE, SECOND]);
const goodZip = rawZip([PAGE, SECOND]);
const garbage = Buffer.from('garbage');
const oneSize = 'a tar declares a size once, and looks for the next header behind it: a wrong one is damaged_archive';
const mebibyte = Buffer.alloc(1024 ** 2);
const noChecksum = 'tar has no checksum over content; a wrong one of a header is damaged_archive';
const onlyZip = (what: string) => NOT_IN_TAR(`tar has no ${what}`);

export const RULES_TABLE: Readonly<Record<ArchiveCode, Row>> = {
  unknown_format: {
    tar: refused('unknown_format', tarMember({ ...PAGE, wrongChecksum: true })),
    'tar.gz': refused('unknown_format', gz(html)),
    'tar.zst': refused('unknown_format', zst(html)),
    zip: refused('unknown_format', html),
  },
  truncated: {
    tar: refused('truncated', rawTar([PAGE], Buffer.alloc(512))),
    'tar.gz': refused('truncated', gz(goodTar).subarray(0, -1)),
    'tar.zst': refused('truncated', zst(goodTar).subarray(0, -1)),
    zip: refused('truncated', goodZip.subarray(0, -1)),
  },
  trailing_garbage: {
    tar: refused('trailing_garbage', rawTar([PAGE, TAR_END, SECOND])),
    'tar.gz': refused('trailing_garbage', Buffer.concat([gz(goodTar), garbage])),
    'tar.zst': refused('trailing_garbage', Buffer.concat([zst(goodTar), garbage])),
    zip: refused('trailing_garbage', Buffer.concat([goodZip, garbage])),
  },
  damaged_archive: {
    tar: refused('damaged_archive', rawTar([PAGE, { ...SECOND, wrongChecksum: true }])),
    'tar.gz': refused(
      'damaged_archive',
      changed(gz(goodTar), (copy) => copy.fill(0xff, 10, 20)),
    ),
    'tar.zst': refused(
      'damaged_archive',
      changed(zst(goodTar), (copy) => copy.fill(0xff, 8, 12)),
    ),
    zip: refused('damaged_archive', changed(goodZip, flip(goodZip.indexOf('PK\x01\x02') + 2))),
  },
  name_absolute: named('name_absolute', '/tmp/evil.html'),
  name_drive: named('name_drive', 'C:/evil.html'),
  name_unc: named('name_unc', '\\\\server\\share\\evil.html'),
  name_dotdot: named('name_dotdot', 'guides/../../evil.html'),
  name_backslash: named('name_backslash', 'guides\\evil.html'),
  name_control: named('name_control', 'evil\0.html'),
  name_empty: named('name_empty', 'guides//evil.html'),
  name_not_utf8: named('name_not_utf8', Buffer.from([0x66, 0xfc, 0x72])),
  name_segment_too_long: named('name_segment_too_long', 'ä'.repeat(128)),
  name_too_long: named('name_too_long', `${'a'.repeat(250)}/`.repeat(17)),
  name_too_deep: named('name_too_deep', `${'a/'.repeat(64)}b`),
  name_duplicate: everywhere(
    'name_duplicate',
    [
      { name: 'caf\u00e9', body: 'x' },
      { name: 'cafe\u0301', body: 'y' },
    ],
    [
      { name: 'caf\u00e9', body: 'x' },
      { name: 'cafe\u0301', body: 'y' },
    ],
  ),
  name_case_conflict: everywhere(
    'name_case_conflict',
    [
      { name: 'Guide/a.html', body: 'x' },
      { name: 'guide/b.html', body: 'y' },
    ],
    [
      { name: 'Guide/a.html', body: 'x' },
      { name: 'guide/b.html', body: 'y' },
    ],
    { foldsCase: true },
  ),
  file_folder_conflict: everywhere(
    'file_folder_conflict',
    [
      { name: 'a', body: 'x' },
      { name: 'a/b/c', body: 'y' },
    ],
    [
      { name: 'a/b/c', body: 'y' },
      { name: 'a', body: 'x' },
    ],
  ),
  type_symlink: everywhere(
    'type_symlink',
    [{ name: 'link', type: '2', linkName: '/etc/passwd' }],
    [{ name: 'link', mode: 0o120777, body: '/etc/passwd' }],
  ),
  type_hardlink: {
    ...inTars('type_hardlink', rawTar([PAGE, { name: 'link', type: '1', linkName: 'index.html' }])),
    zip: { impossible: 'a Unix mode has no value for a hard link; each zip entry has content of its own' },
  },
  type_device: everywhere('type_device', [{ name: 'disk', type: '4' }], [{ name: 'disk', mode: 0o060600 }]),
  type_fifo: everywhere('type_fifo', [{ name: 'pipe', type: '6' }], [{ name: 'pipe', mode: 0o010600 }]),
  type_sparse: {
    ...inTars(
      'type_sparse',
      rawTar([PAGE, paxMember(paxRecord('GNU.sparse.major', '1')), { name: 'holes', body: 'x' }]),
    ),
    zip: { impossible: 'zip has no sparse files' },
  },
  type_unknown: everywhere('type_unknown', [{ name: 'odd', type: '7' }], [{ name: 'socket', mode: 0o140600 }]),
  folder_with_size: everywhere(
    'folder_with_size',
    [{ name: 'folder/', body: 'hidden' }],
    [{ name: 'folder/', mode: 0o040755, body: 'hidden' }],
  ),
  encrypted: { ...onlyZip('encryption'), zip: refused('encrypted', rawZip([{ ...PAGE, flags: 0x801 }])) },
  zip_method: { ...onlyZip('methods'), zip: refused('zip_method', rawZip([{ ...PAGE, method: 12 }])) },
  too_many_entries: everywhere('too_many_entries', [SECOND], [SECOND], { limits: { entriesMax: 1 } }),
  file_too_large: everywhere('file_too_large', [SECOND], [SECOND], {
    limits: { fileBytesMax: SECOND.body.length - 1 },
  }),
  total_too_large: everywhere('total_too_large', [SECOND], [SECOND], {
    limits: { totalBytesMax: PAGE.body.length + SECOND.body.length - 1 },
  }),
  ratio_too_high: {
    ...inTars('ratio_too_high', rawTar([PAGE, { name: 'bomb', body: mebibyte }]), { limits: { ratioFreeBytes: 1000 } }),
    tar: { impossible: 'a bare tar is not compressed' },
    zip: refused('ratio_too_high', rawZip([PAGE, { name: 'bomb', body: mebibyte }]), {
      limits: { ratioFreeBytes: 1000 },
    }),
  },
  wrong_crc: {
    tar: { impossible: noChecksum },
    'tar.gz': refused('wrong_crc', changed(gz(goodTar), flip(-8))),
    'tar.zst': refused('wrong_crc', changed(zst(goodTar), flip(-1))),
    zip: refused('wrong_crc', rawZip([{ ...PAGE, central: { crc: 1 }, local: { crc: 1 } }]), { whileExtracting: true }),
  },
  wrong_size: {
    tar: { impossible: oneSize },
    'tar.gz': refused('wrong_size', changed(gz(goodTar), flip(-1))),
    // The decoder reports a wrong content size only as damage.
    'tar.zst': refused('damaged_archive', changed(zst(goodTar), flip(5))),
    zip: refused('wrong_size', rawZip([{ ...PAGE, central: { size: 5 }, local: { size: 5 } }]), {
      whileExtracting: true,
    }),
  },
  zip_overlap: {
    ...onlyZip('directory that could point twice at the same bytes'),
    zip: refused('zip_overlap', overlappingZip()),
  },
  zip_header_mismatch: {
    ...onlyZip('second header for an entry'),
    zip: refused('zip_header_mismatch', rawZip([{ ...PAGE, local: { name: Buffer.from('../evil.ht') } }])),
  },
  bad_length: {
    ...inTars('bad_length', rawTar([PAGE, paxMember(Buffer.from('99 path=evil.html\n')), SECOND])),
    zip: refused(
      'bad_length',
      rawZip([PAGE], { entries: 0xffff, before: (at) => zip64End(at, { entries: 2n ** 60n }) }),
    ),
  },
  multi_disk: { ...onlyZip('notion of disks'), zip: refused('multi_disk', rawZip([PAGE], { disk: 1 })) },
  window_too_large: {
    tar: { impossible: 'a bare tar has no window' },
    'tar.gz': { impossible: 'a gzip window has 32 KiB at most' },
    'tar.zst': refused(
      'window_too_large',
      changed(streamedZst(goodTar), (copy) => copy.fill(0xff, 5, 6)),
    ),
    zip: { impossible: 'a deflate window has 32 KiB at most' },
  },
  no_pages: {
    ...inTars('no_pages', rawTar([{ name: 'readme.txt', body: 'x' }])),
    zip: refused('no_pages', rawZip([{ name: 'readme.txt', body: 'x' }])),
  },
};

/** An entry whose record is inside the stored content of another entry. All headers are valid, and only the ranges overlap. */
function overlappingZip(): Buffer {
  const inner: ZipMemberSpec = { name: 'inner.html', body: 'twice', method: 0 };
  const outer: ZipMemberSpec = { name: 'outer.html', body: zipLocal(inner), method: 0 };
  const contentStart = zipLocal(outer).length - zipLocal(inner).length;
  return rawZip([outer, { ...inner, centralOnly: true, central: { localStart: contentStart } }]);
}

/** A frame with its window but without its content size. */
function streamedZst(bytes: Buffer): Buffer {
  const magic = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
  const block = Buffer.alloc(3);
  block.writeUIntLE((bytes.length << 3) | 1, 0, 3);
  return Buffer.concat([magic, Buffer.from([0x00, 0x58]), block, bytes]);
}
