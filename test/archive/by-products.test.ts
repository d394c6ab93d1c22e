import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { inspectArchive, readArchiveFiles, sitePaths, verifyArchive } from '../../src/archive/index.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { gz, rawTar, rawZip, zst } from '../helpers/archives.ts';
import { Workbench } from './workbench.ts';

const bench = new Workbench();

type Member = { readonly name: string; readonly body: string };

const BINARY = '\x00\x05\x16\x07Mac OS X';
const page = (title: string) => `<!doctype html><title>${title}</title>`;
const PAGES: readonly Member[] = [
  { name: 'index.html', body: page('Home') },
  { name: 'guide.html', body: page('Guide') },
];
const FORMATS = {
  tar: (members: readonly Member[]) => rawTar(members),
  'tar.gz': (members: readonly Member[]) => gz(rawTar(members)),
  'tar.zst': (members: readonly Member[]) => zst(rawTar(members)),
  zip: (members: readonly Member[]) => rawZip(members),
};

/** Packs a folder like tar of macOS: each AppleDouble file before its file. */
const fromMacTar = (folder: string): Member[] => [
  { name: `._${folder}`, body: BINARY },
  ...PAGES.flatMap(({ name, body }) => [
    { name: `${folder}/._${name}`, body: BINARY },
    { name: `${folder}/${name}`, body },
  ]),
];

/** Packs files like Finder. */
const fromFinder: readonly Member[] = [
  ...PAGES.flatMap(({ name, body }) => [
    { name, body },
    { name: `__MACOSX/._${name}`, body: BINARY },
  ]),
  { name: '.DS_Store', body: BINARY },
  { name: 'desktop.ini', body: BINARY },
];

describe.each(Object.entries(FORMATS))('a %s archive with by-products like .DS_Store', (_format, pack) => {
  it.each([
    ['a folder on macOS', fromMacTar('site'), 'site/'],
    ['files in Finder', fromFinder, ''],
  ])('is unpacked without its by-products if it was packed from %s', async (_case, members, root) => {
    const { error, listing, extracted } = await bench.attempt(pack(members));
    expect(error).toBeNull();
    expect(extracted.map(({ path }) => path)).toEqual(['guide.html', 'index.html']);
    const totalBytes = PAGES.reduce((sum, { body }) => sum + body.length, 0);
    expect(listing).toMatchObject({ root, pages: 2, files: 2, totalBytes, caseConflicts: [] });
    expect([...sitePaths(listing as NonNullable<typeof listing>)].sort()).toEqual(['guide.html', 'index.html']);
    expect(await bench.read('guide.html')).toContain('Guide');
  });

  it('is rejected with no_pages if by-products are its only pages', async () => {
    const members = [{ name: 'a.txt', body: 'x' }, ...fromMacTar('site').filter(({ name }) => name.includes('._'))];
    expect(await bench.codeOf(pack(members))).toBe('no_pages');
  });

  it.each([
    ['has a path outside of the site', { name: '__MACOSX/../../._evil', body: BINARY }, 'name_dotdot'],
    ['has an absolute path', { name: '/._evil', body: BINARY }, 'name_absolute'],
    ['has a control character in its name', { name: '._a\nb', body: BINARY }, 'name_control'],
    ['occurs twice', { name: '.DS_Store', body: BINARY }, 'name_duplicate'],
    ['is larger than a file may be', { name: '._large', body: 'x'.repeat(2000) }, 'file_too_large'],
  ])('is rejected if a by-product %s', async (_case, member, code) => {
    const limits = { fileBytesMax: 1000 };
    expect((await bench.attempt(pack([...fromFinder, member]), limits)).error?.code).toBe(code);
    expect(await bench.written()).toEqual([]);
  });

  it('is rejected if its by-products exceed the limits for files', async () => {
    expect((await bench.attempt(pack(fromFinder), { entriesMax: 5 })).error?.code).toBe('too_many_entries');
    expect((await bench.attempt(pack(fromFinder), { totalBytesMax: 100 })).error?.code).toBe('total_too_large');
  });

  it('causes no case conflict for by-products whose names differ only by case', async () => {
    const conflicts = [...fromMacTar('site'), { name: 'site/._GUIDE.html', body: BINARY }];
    expect((await bench.attempt(pack(conflicts))).listing?.caseConflicts).toEqual([]);
  });

  const sha256Of = (text: string) => createHash('sha256').update(text).digest('hex');
  const manifestOf = (files: readonly Member[], pageCount: number): Member => ({
    name: '_docshelf/manifest.json',
    body: JSON.stringify({
      formatVersion: 1,
      domain: 'acme',
      version: null,
      createdAt: '2024-06-01T00:00:00.000Z',
      generator: 'a test',
      pageCount,
      files: files.map(({ name, body }) => ({
        path: name,
        size: body.length,
        sha256: sha256Of(body),
        type: 'text/html',
      })),
    }),
  });
  const optionsOf = () => ({ name: 'archive', limits: ARCHIVE_LIMITS, foldsCase: false });

  it.each([
    ['lists no by-products and the bundle was packed again on a Mac', manifestOf(PAGES, 2)],
    ['lists the by-products, as an older exporter wrote it', manifestOf(fromFinder, 4)],
  ])('matches its manifest if the manifest %s', async (_case, manifest) => {
    const { error } = await bench.attempt(
      pack([manifest, ...fromFinder, { name: '_docshelf/._x.json', body: BINARY }]),
    );
    expect(error).toBeNull();
    const file = join(bench.dir, 'archive');
    const listing = await inspectArchive(file, optionsOf());
    const verified = await verifyArchive(file, listing, optionsOf());
    expect(verified.files.length).toBe(3);
    expect(verified.manifest?.domain).toBe('acme');
  });

  it('does not match a manifest that counts more pages than the archive contains', async () => {
    await bench.attempt(pack([manifestOf(PAGES, 3), ...fromFinder]));
    const file = join(bench.dir, 'archive');
    const listing = await inspectArchive(file, optionsOf());
    await expect(verifyArchive(file, listing, optionsOf())).rejects.toMatchObject({ code: 'manifest_mismatch' });
  });

  it('provides no by-product to readArchiveFiles(), even if a requested path names the by-product', async () => {
    await bench.attempt(pack(fromFinder));
    const file = join(bench.dir, 'archive');
    const listing = await inspectArchive(file, optionsOf());
    const paths = ['index.html', '.DS_Store', '__MACOSX/._index.html'];
    const read = await readArchiveFiles(file, listing, { ...optionsOf(), paths, bytesMax: 10_000 });
    expect([...read.keys()]).toEqual(['index.html']);
  });
});
