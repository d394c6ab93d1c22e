import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { verifyArchive } from '../../src/archive/index.ts';
import { encodeManifest } from '../../src/archive/manifest.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { parseManifest } from '../helpers/manifests.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { Workbench } from './workbench.ts';

const files = [
  { path: 'index.html', bytes: Buffer.from('<p>Home</p>') },
  { path: 'assets/app.js', bytes: Buffer.from('1') },
  { path: `${'long/'.repeat(40)}ünïcode.html`, bytes: Buffer.from('<p>Deep</p>') },
];
const words = { domain: 'acme', version: 'v1.2.3', createdAt: '2024-06-01T00:00:00.000Z', generator: 'a test' };
const typeOf = (path: string) => (path.endsWith('.html') ? 'text/html' : 'text/javascript');

const bench = new Workbench();

describe('packTarGz()', () => {
  it('writes an archive that unpacks to the same files, with a valid manifest', async () => {
    const to = join(bench.dir, 'out.tar.gz');
    await packTarGz({ files, to, manifest: { ...words, typeOf } });
    const { listing } = await bench.attempt(await readFile(to));
    for (const file of files) expect(await bench.read(file.path)).toBe(file.bytes.toString());
    expect(listing?.entries.at(0).name).toBe('_docshelf/manifest.json');
    const written = parseManifest(await readFile(join(bench.ownDir, 'manifest.json')), 'out');
    expect(written).toMatchObject({ domain: 'acme', version: 'v1.2.3', pageCount: 2 });
    if (listing === null) throw new Error('it is no archive');
    await verifyArchive(to, listing, { name: 'out', limits: ARCHIVE_LIMITS, foldsCase: false });
  });

  it('creates the same bytes for the same files in any order', async () => {
    const one = await packTarGz({ files, to: join(bench.dir, 'one') });
    await new Promise((resolve) => setTimeout(resolve, 1100));
    const two = await packTarGz({ files: files.toReversed(), to: join(bench.dir, 'two') });
    expect(two).toEqual(one);
  });
});

describe('encodeManifest()', () => {
  const table = [
    { path: 'b.html', size: 1, sha256: 'b'.repeat(64), type: 'text/html' },
    { path: '_docshelf/search/preview.html', size: 3, sha256: 'c'.repeat(64), type: 'text/html' },
    { path: 'a.js', size: 2, sha256: 'a'.repeat(64), type: 'text/javascript' },
  ];

  it('sorts the files in the manifest, and does not count pages in _docshelf', () => {
    const manifest = parseManifest(encodeManifest({ ...words, version: null }, table), 'out');
    expect(manifest).toEqual({
      formatVersion: 1,
      ...words,
      version: null,
      pageCount: 1,
      files: [table[1], table[2], table[0]],
    });
  });

  it('creates the same bytes for the same files in any order and with keys in any order', () => {
    const shuffled = table.toReversed().map(({ path, size, sha256, type }) => ({ type, sha256, size, path }));
    const { generator, ...others } = words;
    expect(encodeManifest({ generator, ...others }, shuffled)).toEqual(encodeManifest(words, table));
  });
});
