import { zstdCompressSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import {
  gz,
  longNameMember,
  paxMember,
  paxRecord,
  rawTar,
  TAR_END,
  tarMember,
  zst,
  zstSkippable,
} from '../helpers/archives.ts';
import { Workbench } from './workbench.ts';

const PAGE = { name: 'index.html', body: 'x' };

const bench = new Workbench();

const namesOf = async (tar: Buffer) => (await bench.attempt(tar)).extracted.map((file) => file.path);

describe('a tar', () => {
  it('may have long names, in PAX and GNU format', async () => {
    const long = `${'guides/'.repeat(30)}index.html`;
    expect(await namesOf(rawTar([paxMember(paxRecord('path', long)), PAGE]))).toEqual([long]);
    expect(await namesOf(rawTar([longNameMember(long), { ...PAGE, magic: 'gnu' }]))).toEqual([long]);
  });

  it('may have a global header that changes no entry, as git archive writes it', async () => {
    const comment = paxMember(paxRecord('comment', 'a'.repeat(40)), 'g');
    expect(await namesOf(rawTar([comment, PAGE]))).toEqual(['index.html']);
  });

  it('may have the old format without magic bytes', async () => {
    expect(await namesOf(rawTar([{ ...PAGE, magic: 'v7' }]))).toEqual(['index.html']);
  });

  it('may encode sizes in base 256 and in PAX', async () => {
    const sizeField = Buffer.alloc(12);
    sizeField[0] = 0x80;
    sizeField[11] = 1;
    expect(await namesOf(rawTar([{ ...PAGE, sizeField }]))).toEqual(['index.html']);
    expect(await namesOf(rawTar([paxMember(paxRecord('size', '1')), { ...PAGE, size: 0 }]))).toEqual(['index.html']);
  });

  it('may be padded with zeros after its end', async () => {
    expect(await namesOf(rawTar([PAGE], Buffer.alloc(10_240)))).toEqual(['index.html']);
  });

  it('may have a folder entry after files inside the folder, but not the same folder twice', async () => {
    const inside = { name: 'a/index.html', body: 'x' };
    expect(await namesOf(rawTar([PAGE, inside, { name: 'a/' }]))).toEqual(['a/index.html', 'index.html']);
    expect(await bench.codeOf(rawTar([PAGE, { name: 'a/' }, { name: './a/' }]))).toBe('name_duplicate');
  });

  const negative = Buffer.alloc(12, 0xff);
  it.each([
    ['without an entry', rawTar([]), 'no_pages'],
    ['of zeros alone', Buffer.alloc(10_240), 'no_pages'],
    ['without end blocks', rawTar([PAGE], Buffer.alloc(0)), 'truncated'],
    ['with one end block', rawTar([PAGE], Buffer.alloc(512)), 'truncated'],
    ['that ends in the middle of a block', rawTar([PAGE], Buffer.alloc(1100)), 'truncated'],
    ['cut off inside an entry', rawTar([{ ...PAGE, size: 5000 }]).subarray(0, 600), 'truncated'],
    ['with an entry after one end block', rawTar([PAGE, Buffer.alloc(512), PAGE]), 'trailing_garbage'],
    ['with bytes after its end', rawTar([PAGE], Buffer.concat([TAR_END, Buffer.alloc(512, 1)])), 'trailing_garbage'],
    ['with excessive padding', rawTar([PAGE], Buffer.alloc(3 * 1024 ** 2)), 'trailing_garbage'],
    ['with a negative size', rawTar([PAGE, { ...PAGE, name: 'b', sizeField: negative }]), 'bad_length'],
    [
      'with letters as a size',
      rawTar([PAGE, { ...PAGE, name: 'b', sizeField: Buffer.from('0000000abcd\0') }]),
      'bad_length',
    ],
    ['with letters as a PAX size', rawTar([paxMember(paxRecord('size', '1e3')), PAGE]), 'bad_length'],
    ['with a PAX length beyond the header', rawTar([paxMember(Buffer.from('20 path=a\n')), PAGE]), 'bad_length'],
    ['with an empty PAX length', rawTar([paxMember(Buffer.from('0 path=a\n')), PAGE]), 'bad_length'],
    ['with a path for all entries', rawTar([paxMember(paxRecord('path', 'evil'), 'g'), PAGE]), 'damaged_archive'],
    [
      'with two PAX headers for an entry',
      rawTar([paxMember(paxRecord('path', 'a')), paxMember(paxRecord('path', 'b')), PAGE]),
      'damaged_archive',
    ],
    ['with a PAX header without an entry', rawTar([PAGE, paxMember(paxRecord('path', 'a'))]), 'damaged_archive'],
    ['with a NUL inside a long name', rawTar([longNameMember('index.html\0../evil'), PAGE]), 'name_control'],
    ['with a sparse file of GNU', rawTar([PAGE, { name: 'holes', type: 'S' }]), 'type_sparse'],
    [
      'with a folder that an old tar marks by a slash',
      rawTar([PAGE, { name: 'a/', type: '0', body: 'x' }]),
      'folder_with_size',
    ],
    ['with a hidden ..', rawTar([PAGE, { name: './a/../../evil', body: 'x' }]), 'name_dotdot'],
    ['with a file named .', rawTar([PAGE, { name: './', type: '0', body: 'x' }]), 'folder_with_size'],
  ])('is rejected if invalid: %s', async (_case, tar, code) => {
    expect(await bench.codeOf(tar)).toBe(code);
    expect(await bench.written()).toEqual([]);
  });

  it('is rejected if it contains a sparse file, and the error names this file even if only the entry contains the name', async () => {
    const tar = rawTar([PAGE, paxMember(paxRecord('GNU.sparse.size', '9')), { name: 'holes', body: 'x' }]);
    const { error } = await bench.attempt(tar);
    expect(error?.message).toBe('Cannot unpack "archive": entry "holes" is a sparse file');
  });

  it('is rejected if it has far more extended headers than entries', async () => {
    const comment = paxMember(paxRecord('comment', 'again'), 'g');
    const tar = rawTar([...Array.from({ length: 20 }, () => comment), PAGE]);
    expect(await bench.codeOf(tar, { entriesMax: 2 })).toBe('too_many_entries');
  });
});

describe.each([
  ['tar.gz', gz],
  ['tar.zst', zst],
  ['tar.zst without a checksum', (bytes: Buffer) => zstdCompressSync(bytes)],
])('a tar with compression (%s)', (_format, compress) => {
  it.each([
    ['without end blocks', Buffer.alloc(0)],
    ['with one end block', Buffer.alloc(512)],
    ['with both end blocks', TAR_END],
    ['with padding after the end blocks', Buffer.alloc(20 * 512)],
  ])('is accepted as complete: %s', async (_case, end) => {
    expect(await namesOf(compress(rawTar([PAGE], end)))).toEqual(['index.html']);
  });

  it.each([
    ['cut off inside an entry', rawTar([{ ...PAGE, size: 5000 }]).subarray(0, 600), 'truncated'],
    ['cut off inside the padding of its last entry', rawTar([PAGE], Buffer.alloc(0)).subarray(0, 513), 'truncated'],
    ['cut off inside a header', rawTar([PAGE, PAGE]).subarray(0, 1100), 'truncated'],
    ['cut off after a PAX header', rawTar([PAGE, paxMember(paxRecord('path', 'b'))], Buffer.alloc(0)), 'truncated'],
    ['cut off after a long name', rawTar([PAGE, longNameMember('b')], Buffer.alloc(0)), 'truncated'],
    ['that ends in the middle of a block', rawTar([PAGE], Buffer.alloc(700)), 'truncated'],
    [
      'with an entry after one end block',
      rawTar([PAGE, Buffer.alloc(512), { ...PAGE, name: 'b' }]),
      'trailing_garbage',
    ],
    ['with bytes after one end block', rawTar([PAGE], Buffer.alloc(1024, 'x').fill(0, 0, 512)), 'trailing_garbage'],
    ['without an entry', Buffer.alloc(0), 'no_pages'],
  ])('is rejected if invalid: %s', async (_case, tar, code) => {
    expect(await bench.codeOf(compress(tar))).toBe(code);
    expect(await bench.written()).toEqual([]);
  });

  it('is rejected if it is cut off at any point, even if its tar has no end blocks', async () => {
    const bytes = compress(rawTar([PAGE], Buffer.alloc(0)));
    for (let length = 0; length < bytes.length; length += 1) {
      expect((await bench.attempt(bytes.subarray(0, length))).stage, `${length} bytes`).toBe('inspected');
    }
  });

  it('may consist of several complete streams', async () => {
    const tar = rawTar([PAGE], Buffer.alloc(0));
    const [first, second] = [compress(tar.subarray(0, 700)), compress(tar.subarray(700))];
    expect(await namesOf(Buffer.concat([first, second]))).toEqual(['index.html']);
    expect(await bench.codeOf(Buffer.concat([first, second.subarray(0, -1)]))).toBe('truncated');
  });
});

it('a tar.zst is accepted if its tar has no end blocks and a skippable frame follows', async () => {
  const bytes = Buffer.concat([zst(rawTar([PAGE], Buffer.alloc(0))), zstSkippable(Buffer.from('index'))]);
  expect(await namesOf(bytes)).toEqual(['index.html']);
});

describe('a plain tar whose digest or signature was checked', () => {
  it.each([
    ['without end blocks', 0],
    ['with one end block', 512],
  ])('is accepted as complete: %s', async (_case, endBytes) => {
    const tar = rawTar([PAGE], Buffer.alloc(endBytes));
    expect((await bench.attempt(tar, {}, false, true)).extracted.map((file) => file.path)).toEqual(['index.html']);
  });

  it('is rejected if it ends inside an entry', async () => {
    const cut = rawTar([{ ...PAGE, size: 5000 }]).subarray(0, 600);
    expect((await bench.attempt(cut, {}, false, true)).error?.code).toBe('truncated');
  });
});

describe('a tar.gz', () => {
  it('may consist of several members and be padded with zeros', async () => {
    const tar = rawTar([PAGE]);
    const members = Buffer.concat([gz(tar.subarray(0, 700)), gz(tar.subarray(700)), Buffer.alloc(100)]);
    expect(await namesOf(members)).toEqual(['index.html']);
  });

  it.each([
    ['garbage after zeros, which Node drops', Buffer.concat([gz(rawTar([PAGE])), Buffer.alloc(10), Buffer.from('x')])],
    ['a second tar in a second member', Buffer.concat([gz(rawTar([PAGE])), gz(rawTar([tarMember(PAGE)]))])],
  ])('is rejected if more data follows the end of its tar: %s', async (_case, bytes) => {
    expect(await bench.codeOf(bytes)).toBe('trailing_garbage');
  });
});
