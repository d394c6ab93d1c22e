import { hash } from 'node:crypto';
import { statSync, writeFileSync } from 'node:fs';
import fs, { readFile, stat, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { extractArchive, inspectArchive } from '../../src/archive/index.ts';
import type { SiteStore } from '../../src/deploy/index.ts';
import { verifyRelease } from '../../src/deploy/releases/release-store.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { newFolder } from '../helpers/new-folder.ts';
import { folderElsewhere } from '../helpers/other-file-system.ts';
import { packTarGz } from '../helpers/pack-tar-gz.ts';
import { type Bundle, importBundle, newStore } from './workbench.ts';

const LARGE = 'large '.repeat(400_000);
const SITE = { 'index.html': '<title>1</title>', 'a.css': 'body{}', 'b/large.js': LARGE, 'empty.js': '' };

async function pack(files: Readonly<Record<string, string>>): Promise<Bundle> {
  const file = join(newFolder(), 'site.tar.gz');
  const entries = Object.entries(files).map(([path, text]) => ({ path, bytes: Buffer.from(text) }));
  const { sha256 } = await packTarGz({ files: entries, to: file });
  return { file, fileName: 'site.tar.gz', digest: sha256 };
}

const fileOf = (store: SiteStore, { digest }: Bundle, path: string) => join(store.folderOf(digest), 'site', path);
const inodeOf = async (...place: Parameters<typeof fileOf>) => (await stat(fileOf(...place))).ino;

async function changedPaths(store: SiteStore, { digest }: Bundle): Promise<readonly string[]> {
  const verdict = await verifyRelease(await store.view(digest, 'v1'), () => undefined, new AbortController().signal);
  return verdict.changed;
}

test('identical files of several releases are stored once, whatever their paths, and changed files are stored separately', async () => {
  const store = await newStore();
  const first = await pack(SITE);
  const second = await pack({
    'index.html': '<title>2</title>',
    'moved.css': 'body{}',
    'b/large.js': LARGE,
    'empty.js': '',
  });
  for (const bundle of [first, second]) await importBundle(store, bundle);
  expect(await inodeOf(store, second, 'moved.css')).toBe(await inodeOf(store, first, 'a.css'));
  expect(await inodeOf(store, second, 'b/large.js')).toBe(await inodeOf(store, first, 'b/large.js'));
  for (const path of ['index.html', 'empty.js']) {
    expect(await inodeOf(store, second, path), path).not.toBe(await inodeOf(store, first, path));
  }
  await store.removeReleases(async () => [first.digest]);
  expect(await changedPaths(store, second)).toEqual([]);
});

test('an import does not link to a damaged file of another release, and leaves that file unchanged', async () => {
  const store = await newStore();
  const [first, second] = [await pack(SITE), await pack({ ...SITE, 'index.html': '<title>2</title>' })];
  for (const bundle of [first, second]) await importBundle(store, bundle);
  for (const path of ['a.css', 'b/large.js']) {
    const file = fileOf(store, first, path);
    await writeFile(file, (await readFile(file, 'utf8')).replace(/[bl]/, 'X'));
  }
  expect(await changedPaths(store, second)).toEqual(['a.css', 'b/large.js']);
  await store.removeReleases(async () => [second.digest]);
  await importBundle(store, second);
  expect(await changedPaths(store, second)).toEqual([]);
  expect(await changedPaths(store, first)).toEqual(['a.css', 'b/large.js']);
});

/** Returns requested links, and the folder of the written site. @param elsewhere receives files with the same bytes */
async function extractNextTo(elsewhere: string) {
  const [bundle, out] = [await pack(SITE), newFolder()];
  const texts = [SITE['a.css'], LARGE];
  const sames = new Map(texts.map((text) => [hash('sha256', text), join(elsewhere, String(text.length))]));
  for (const text of texts) writeFileSync(sames.get(hash('sha256', text)) ?? '', text);
  const asked = new Set<string>();
  const options = {
    name: 'x',
    limits: ARCHIVE_LIMITS,
    foldsCase: false,
    isIndexed: false,
    siteDir: join(out, 'site'),
    ownDir: join(out, 'own'),
  };
  const findSame = (digest: string) => {
    asked.add(digest);
    return sames.get(digest) ?? null;
  };
  await extractArchive(bundle.file, await inspectArchive(bundle.file, options), { ...options, findSame });
  expect([...asked]).toEqual(expect.arrayContaining([...sames.keys()]));
  return { siteDir: options.siteDir, sames: [...sames.values()] };
}

async function expectCopies(siteDir: string, sames: readonly string[]): Promise<void> {
  expect(await readFile(join(siteDir, 'a.css'), 'utf8')).toBe(SITE['a.css']);
  expect((await readFile(join(siteDir, 'b/large.js'), 'utf8')) === LARGE).toBe(true);
  for (const file of [...sames, join(siteDir, 'a.css'), join(siteDir, 'b/large.js')])
    expect(statSync(file).nlink, file).toBe(1);
}

test('extractArchive() writes a separate copy of a file if the identical file is on another file system (EXDEV)', async ({
  skip,
}) => {
  const elsewhere = folderElsewhere();
  if (elsewhere === null) return skip();
  const { siteDir, sames } = await extractNextTo(elsewhere);
  await expectCopies(siteDir, sames);
});

/** Simulates the limit of links, because ext4 allows 65,000. */
function refuseLinks(code: string) {
  const refused = vi.spyOn(fs, 'link').mockRejectedValue(Object.assign(new Error(`${code}: link`), { code }));
  syncBuiltinESMExports();
  onTestFinished(() => {
    refused.mockRestore();
    syncBuiltinESMExports();
  });
  return refused;
}

test.each(['EMLINK', 'EPERM'])(
  'extractArchive() writes a separate copy of a file if a link to the identical file fails with %s',
  async (code) => {
    const refused = refuseLinks(code);
    const { siteDir, sames } = await extractNextTo(newFolder());
    // The small file is written before it, the large one after it.
    expect(refused).toHaveBeenCalledTimes(2);
    await expectCopies(siteDir, sames);
  },
);
