import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'vitest';
import { inspectArchive, verifyArchive, verifyFile } from '../../src/archive/index.ts';
import { encodeManifest } from '../../src/archive/manifest.ts';
import { DocshelfError, exitCodeOf } from '../../src/domain/errors.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import {
  longNameMember,
  paxMember,
  paxRecord,
  rawTar,
  rawZip,
  siteArchive,
  zst,
  zstSkippable,
} from '../helpers/archives.ts';
import { fuzz } from '../helpers/fuzz.ts';
import { parseManifest } from '../helpers/manifests.ts';
import { minisignFile } from '../helpers/minisign.ts';
import { Workbench } from './workbench.ts';

const bench = new Workbench();

const EX_DATAERR = 65;

/** A bad archive is an error with an archive code. All other errors are bugs of docshelf. */
async function refusedAtMost(read: () => unknown): Promise<void> {
  try {
    await read();
  } catch (error) {
    if (!(error instanceof DocshelfError) || exitCodeOf(error.code) !== EX_DATAERR) throw error;
  }
}

async function readArchive(bytes: Buffer): Promise<void> {
  const file = join(bench.dir, 'archive');
  await writeFile(file, bytes);
  const options = { name: 'archive', limits: ARCHIVE_LIMITS, foldsCase: false };
  await refusedAtMost(async () => verifyArchive(file, await inspectArchive(file, options), options));
}

const PAGE = { name: 'index.html', body: '<p>Home</p>' };
const MANIFEST = encodeManifest(
  { domain: 'acme', version: 'v1', createdAt: '2024-06-01T00:00:00Z', generator: 'test' },
  [{ path: 'index.html', size: 11, sha256: 'a'.repeat(64), type: 'text/html; charset=utf-8' }],
);
const tar = rawTar([
  PAGE,
  { name: 'folder/' },
  paxMember(paxRecord('path', 'folder/größe.html')),
  { name: 'x', body: 'x' },
  longNameMember('long/'.repeat(30)),
  { name: 'y', body: 'y' },
  { name: '_docshelf/manifest.json', body: MANIFEST },
]);

describe('an input with random changes', { timeout: 600_000 }, () => {
  test('is read, or is rejected with a specific error code (tar)', () => fuzz([siteArchive('tar'), tar], readArchive));

  test('is read, or is rejected with a specific error code (zip)', () =>
    fuzz(
      [
        siteArchive('zip'),
        rawZip([
          PAGE,
          { name: 'folder/' },
          { name: 'stored.css', body: 'body {}', method: 0 },
          { name: 'd.js', body: 'x', descriptor: true, flags: 0x808 },
        ]),
      ],
      readArchive,
    ));

  test('is read, or is rejected with a specific error code (tar.gz)', () => fuzz([siteArchive('tar.gz')], readArchive));

  test('is read, or is rejected with a specific error code (tar.zst)', () =>
    fuzz(
      [
        siteArchive('tar.zst'),
        Buffer.concat([zstSkippable(Buffer.from('seek table')), zst(tar.subarray(0, 700)), zst(tar.subarray(700))]),
      ],
      readArchive,
    ));

  test('is read, or is rejected with a specific error code (manifest)', () =>
    fuzz([MANIFEST], (bytes) => refusedAtMost(() => parseManifest(bytes, 'x', 1 + (bytes.length % 100)))));

  test('is read, or is rejected with a specific error code (signature)', async () => {
    const [file, key] = [join(bench.dir, 'signed'), minisignFile('throwaway.pub')];
    await writeFile(file, 'signed');
    await fuzz([Buffer.from(minisignFile('bundle.txt.minisig'))], (bytes) =>
      refusedAtMost(() => verifyFile(file, bytes.toString(), [key])),
    );
  });
});
