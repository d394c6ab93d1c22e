import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import { inspectArchive } from '../../src/archive/index.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { gz, rawTar, rawZip } from '../helpers/archives.ts';
import { Workbench } from './workbench.ts';

const bench = new Workbench();

const PAGE = { name: 'index.html', body: '<p>Home</p>' };
const pack = (names: readonly string[]) => {
  const members = names.map((name) => ({ name, body: name.endsWith('/') ? '' : 'x' }));
  return { tar: rawTar([PAGE, ...members]), zip: rawZip([PAGE, ...members]) };
};

describe.each(['tar', 'zip'] as const)('limits.entries, in a %s archive,', (format) => {
  it('limits the number of files and the number of folders separately', async () => {
    const bytes = pack(['a/', 'b/', 'c/', 'a/x.js', 'b/x.js'])[format];
    expect(await bench.codeOf(bytes, { entriesMax: 3 })).toBeNull();
    expect(await bench.codeOf(bytes, { entriesMax: 2 })).toBe('too_many_entries');
  });

  it('counts folders that occur only in the paths of files', async () => {
    expect(await bench.codeOf(pack(['a/b/c/d/e/x.js'])[format], { entriesMax: 5 })).toBeNull();
    expect(await bench.codeOf(pack(['a/b/c/d/e/x.js'])[format], { entriesMax: 4 })).toBe('too_many_entries');
  });
});

test('inspectArchive() rejects a zip directory of more than 256 MiB before it reads the directory', async () => {
  const file = join(bench.dir, 'large.zip');
  const bytes = 257 * 1024 ** 2;
  await using handle = await open(file, 'w');
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  for (const at of [8, 10]) end.writeUInt16LE(1, at);
  end.writeUInt32LE(bytes, 12);
  await handle.write(Buffer.from('PK\x03\x04'), 0, 4, 0);
  await handle.write(end, 0, end.length, bytes);
  const options = { name: 'large.zip', limits: ARCHIVE_LIMITS, foldsCase: false };
  await expect(inspectArchive(file, options)).rejects.toMatchObject({ code: 'too_many_entries' });
});

test('inspectArchive() rejects a manifest that is too large for the number of files before it reads the manifest', async () => {
  const manifest = { name: '_docshelf/manifest.json', body: Buffer.alloc(100_000, ' ') };
  const attempt = await bench.attempt(gz(rawTar([PAGE, manifest])));
  expect([attempt.stage, attempt.error?.code]).toEqual(['inspected', 'bad_manifest']);
  expect(attempt.error?.message).toContain('100000 bytes');
  const files = Array.from({ length: 100 }, (_, n) => ({ name: `${n}.js`, body: '' }));
  const listed = await bench.attempt(gz(rawTar([PAGE, manifest, ...files])));
  expect([listed.stage, listed.error]).toEqual(['passed', null]);
});

describe('an archive without a page', () => {
  const text = { name: 'readme.txt', body: 'text '.repeat(100) };
  const damagedAt = (bytes: Buffer, at: number) => {
    const copy = Buffer.from(bytes);
    copy[at] = (copy[at] ?? 0) ^ 0xff;
    return copy;
  };
  const zip = rawZip([text]);

  it.each([
    ['a tar.gz with damaged data', damagedAt(gz(rawTar([text])), 20), 'wrong_crc'],
    ['a zip with damaged data', damagedAt(zip, 30 + text.name.length), 'damaged_archive'],
    ['a zip with a wrong CRC', rawZip([{ ...text, central: { crc: 1 }, local: { crc: 1 } }]), 'wrong_crc'],
    ['a damaged manifest', rawTar([text, { name: '_docshelf/manifest.json', body: '{' }]), 'bad_manifest'],
    ['no other error', zip, 'no_pages'],
  ])('is rejected with no_pages only if it has no other error: %s', async (_case, bytes, code) => {
    expect((await bench.attempt(bytes)).error?.code).toBe(code);
    expect(await bench.written()).not.toContain('staging');
  });
});
