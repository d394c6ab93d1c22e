import { buffer } from 'node:stream/consumers';
import { crc32 } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import yauzl from 'yauzl';
import { rawZip, siteZip, type ZipMemberSpec, zip64End, zipExtra } from '../helpers/archives.ts';
import { RULES_TABLE } from './rules-table.ts';
import { Workbench } from './workbench.ts';

const PAGE = { name: 'index.html', body: '<p>Home</p>' };

const bench = new Workbench();

/** Files by name as yauzl reads them. @throws Error if yauzl rejects the archive */
async function readByYauzl(bytes: Buffer): Promise<Map<string, Buffer>> {
  const zip = await yauzl.fromBufferPromise(bytes, { strictFileNames: true });
  const files = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    files.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  }
  return files;
}

const unicodePath = (raw: Buffer, name: string) => {
  const head = Buffer.alloc(5);
  head[0] = 1;
  head.writeUInt32LE(crc32(raw), 1);
  return zipExtra(0x7075, Buffer.concat([head, Buffer.from(name)]));
};
const codePage = Buffer.from([0x63, 0x61, 0x66, 0x82, 0x2e, 0x68, 0x74, 0x6d]);

describe('a zip archive', () => {
  const sound: readonly (readonly [string, Buffer])[] = [
    ['of every usual kind of entry', siteZip()],
    [
      'with data descriptors',
      rawZip([
        { ...PAGE, descriptor: true },
        { name: 'empty', method: 0, descriptor: true },
      ]),
    ],
    ['with stored entries', rawZip([{ ...PAGE, method: 0 }])],
    ['with a comment', rawZip([PAGE], { comment: Buffer.from('made by hand') })],
    ['with ZIP64 records', rawZip([PAGE], { entries: 0xffff, directoryStart: 0xffffffff, before: zip64End })],
    ['with unneeded ZIP64 records', rawZip([PAGE], { before: zip64End })],
    ['with a larger local extra field', rawZip([{ ...PAGE, local: { extra: zipExtra(0x5455, Buffer.alloc(4000)) } }])],
    ['with a Unicode path', rawZip([PAGE, { name: codePage, flags: 0, extra: unicodePath(codePage, 'café.htm') }])],
    ['without modes', rawZip([{ ...PAGE, mode: 0 }])],
  ];
  it.each(sound)('unpacks to the same files as with yauzl: %s', async (_case, bytes) => {
    const { extracted, error } = await bench.attempt(bytes);
    expect(error).toBe(null);
    const files = await readByYauzl(bytes);
    expect(extracted.map((file) => file.path)).toEqual([...files.keys()].sort());
    for (const [name, body] of files) expect(await bench.read(name)).toBe(body.toString());
  });

  it('may contain a UTF-8 file name without the UTF-8 flag', async () => {
    const { extracted } = await bench.attempt(rawZip([{ ...PAGE, flags: 0, name: 'café.html' }]));
    expect(extracted.map((file) => file.path)).toEqual(['café.html']);
  });

  const refused: readonly (readonly [string, Buffer, string])[] = [
    ['with an encrypted directory', rawZip([{ ...PAGE, flags: 0x2800 }]), 'encrypted'],
    ['with AES', rawZip([{ ...PAGE, method: 99 }]), 'encrypted'],
    ['with a name in a code page', rawZip([PAGE, { name: codePage, flags: 0 }]), 'name_not_utf8'],
    [
      'with a Unicode path that leaves the site',
      rawZip([PAGE, { name: codePage, flags: 0, extra: unicodePath(codePage, '../evil') }]),
      'name_dotdot',
    ],
    ['with a comment cut short', rawZip([PAGE], { commentLength: 40 }), 'bad_length'],
    ['with a second end record in its comment', rawZip([PAGE], { comment: rawZip([]) }), 'damaged_archive'],
    [
      'with bytes before its first entry',
      Buffer.concat([Buffer.from('PK\x03\x04'), rawZip([PAGE])]),
      'trailing_garbage',
    ],
    ['with bytes between entries and directory', padded(), 'trailing_garbage'],
    ['with more entries than its directory', rawZip([PAGE], { entries: 2 }), 'bad_length'],
    [
      'with fewer entries than its directory',
      rawZip([PAGE, { ...PAGE, name: 'b.html' }], { entries: 1 }),
      'bad_length',
    ],
    ['with a directory outside of the file', rawZip([PAGE], { directoryStart: 5000 }), 'bad_length'],
    ['that announces ZIP64 records and has none', rawZip([PAGE], { entries: 0xffff }), 'bad_length'],
    [
      'with contradictory ZIP64 records',
      rawZip([PAGE], { before: (at) => zip64End(at, { entries: 2n }) }),
      'bad_length',
    ],
    ['with an invalid extra field', rawZip([{ ...PAGE, extra: Buffer.from([1, 0, 9, 0]) }]), 'bad_length'],
    ['with an invalid extra length', rawZip([{ ...PAGE, central: { extraLength: 900 } }]), 'bad_length'],
    ['with the maximum size and no ZIP64 field', rawZip([{ ...PAGE, central: { size: 0xffffffff } }]), 'bad_length'],
    ['with an entry outside of the file', rawZip([{ ...PAGE, central: { localStart: 60_000 } }]), 'bad_length'],
    [
      'with data reaching into the directory',
      rawZip([{ ...PAGE, central: { compressedSize: 60 }, local: { compressedSize: 60 } }]),
      'bad_length',
    ],
    ['with an entry on another disk', rawZip([{ ...PAGE, disk: 1 }]), 'multi_disk'],
    ['with fewer entries on its disk', rawZip([PAGE], { entriesOnDisk: 0 }), 'multi_disk'],
    ['with another local method', rawZip([{ ...PAGE, local: { method: 0 } }]), 'zip_header_mismatch'],
    ['with other local flags', rawZip([{ ...PAGE, local: { flags: 0 } }]), 'zip_header_mismatch'],
    ['with another local size', rawZip([{ ...PAGE, local: { size: 1 } }]), 'zip_header_mismatch'],
    [
      'without a local signature',
      rawZip([PAGE, { ...PAGE, name: 'b.html', local: { signature: 1 } }]),
      'zip_header_mismatch',
    ],
    ['with a false data descriptor', rawZip([{ ...PAGE, descriptor: Buffer.alloc(16) }]), 'zip_header_mismatch'],
    ['with a stored size that differs', rawZip([{ ...PAGE, method: 0, central: { size: 3 } }]), 'wrong_size'],
    ['with a FIFO', rawZip([PAGE, { name: 'pipe', mode: 0o010600 }]), 'type_fifo'],
    [
      'with a folder by mode that has a size',
      rawZip([PAGE, { name: 'a', mode: 0o040755, body: 'x' }]),
      'folder_with_size',
    ],
  ];
  it.each(refused)('is rejected if invalid: %s', async (_case, bytes, code) => {
    expect(await bench.codeOf(bytes)).toBe(code);
    expect(await bench.written()).toEqual([]);
  });

  it('unpacks completely if it has many entries', async () => {
    const many = Array.from({ length: 2100 }, (_, index) => ({ name: `${index}.html`, body: `page ${index}` }));
    const { extracted } = await bench.attempt(rawZip(many));
    expect(extracted).toHaveLength(many.length);
    for (const index of [0, 999, 1000, 2099]) expect(await bench.read(`${index}.html`)).toBe(`page ${index}`);
  });

  it('unpacks completely if an uncompressed entry contains the bytes of a data descriptor signature', async () => {
    const body = Buffer.concat([Buffer.from('PK\x07\x08'), Buffer.from('<p>'), Buffer.from('PK\x03\x04 PK\x07\x08')]);
    const zip = rawZip([{ name: 'index.html', method: 0, body, descriptor: true }]);
    expect((await bench.attempt(zip)).error).toBeNull();
    expect(await bench.read('index.html')).toBe(body.toString());
  });

  it('is rejected during unpacking if its data is damaged', async () => {
    const body = 'abcdefgh'.repeat(100);
    expect(await bench.codeOf(rawZip([{ name: 'index.html', body, data: Buffer.alloc(20, 0xff) }]))).toBe(
      'damaged_archive',
    );
    const { error } = await bench.attempt(rawZip([{ ...PAGE, data: Buffer.alloc(0) }]));
    expect(error?.code).toBe('wrong_size');
  });

  it('is rejected with wrong_size if an entry inflates to more than its declared size', async () => {
    const bomb = { name: 'index.html', body: Buffer.alloc(8 * 1024 ** 2), central: { size: 10 }, local: { size: 10 } };
    expect(await bench.codeOf(rawZip([bomb]))).toBe('wrong_size');
  });

  it('is rejected in every case that yauzl rejects', async () => {
    const bad = [
      ...refused.map(([, bytes]) => bytes),
      ...Object.values(RULES_TABLE).flatMap((row) => ('bytes' in row.zip && !row.zip.limits ? [row.zip.bytes] : [])),
    ];
    let refusedByYauzl = 0;
    for (const bytes of bad) {
      const isRefusedByYauzl = await readByYauzl(bytes).then(
        () => false,
        () => true,
      );
      if (!isRefusedByYauzl) continue;
      refusedByYauzl += 1;
      expect((await bench.attempt(bytes, {}, true)).stage).not.toBe('passed');
    }
    expect(refusedByYauzl).toBeGreaterThan(15);
  });
});

/** A zip with 7 bytes between its last entry and its directory. */
function padded(): Buffer {
  const gap: ZipMemberSpec = {
    name: 'gap',
    method: 0,
    data: Buffer.from('nothing'),
    central: { compressedSize: 0 },
    local: { compressedSize: 0 },
  };
  return rawZip([PAGE, gap]);
}
