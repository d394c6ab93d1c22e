import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { rawTar, rawZip, zst } from '../helpers/archives.ts';
import { type DaemonProcess, openBench, runDocshelf } from '../helpers/daemon.ts';

const bench = openBench(afterEach);

const TOKEN = 'a-long-random-token';
const BY_PRODUCT = /\._|__MACOSX|DS_Store/;
const page = (title: string) => `<!doctype html><title>${title}</title><h1>${title}</h1><p>Wombats live here.</p>`;
const binary = { body: '\x00\x05\x16\x07Mac OS X wombats' };

/** Packs a folder like `tar` of macOS: an AppleDouble file before each entry. */
const fromTar = (mark: string) =>
  rawTar([
    { name: './._site', ...binary },
    { name: './site/' },
    { name: './site/._index.html', ...binary },
    { name: './site/index.html', body: page(mark) },
    { name: './site/._guide.html', ...binary },
    { name: './site/guide.html', body: page('Guide') },
  ]);
/** Packs a folder like Finder. */
const fromFinder = (mark: string) =>
  rawZip([
    { name: 'site/', mode: 0o040700, method: 0 },
    { name: 'site/index.html', body: page(mark) },
    { name: '__MACOSX/site/._index.html', ...binary },
    { name: 'site/guide.html', body: page('Guide') },
    { name: 'site/.DS_Store', ...binary },
    { name: '__MACOSX/._site', ...binary },
  ]);

async function expectWhole(daemon: DaemonProcess, version: string, mark: string): Promise<void> {
  const status = await daemon.untilServing(version);
  expect(status.active?.pages).toBe(2);
  expect(status.versions.find((each) => each.version === version)).toMatchObject({ pages: 2, files: 2 });
  expect(status.notices).toEqual([]);
  const read = async (path: string) => (await fetch(daemon.site + path)).text();
  expect(await read('/')).toContain(mark);
  expect(await read('/guide')).toContain('Guide');
  for (const path of ['/._index.html', '/site/._index.html', '/__MACOSX/site/._index.html', '/site/index.html']) {
    expect((await fetch(daemon.site + path)).status, path).toBe(404);
  }
  const list = await read('/llms.txt');
  expect(list).toContain('guide');
  expect(list).not.toMatch(BY_PRODUCT);
}

describe('an archive that was packed on macOS', () => {
  test('is served completely from an import, an upload and the inbox, and search ignores the metadata files of macOS', async () => {
    const daemon = await bench.start({ admin: { token: TOKEN }, search: { enabled: true } });
    await writeFile(join(daemon.folder, 'docs-2024-06-01.tar.zst'), zst(fromTar('imported')));
    const run = (...args: string[]) =>
      runDocshelf(['bundle', ...args, '--json', '--config', daemon.configFile], { cwd: daemon.folder });
    expect((await run('import', 'docs-2024-06-01.tar.zst')).code).toBe(0);
    await expectWhole(daemon, '2024-06-01', 'imported');
    const response = await fetch(`${daemon.admin}/v1/bundles/docs-2024-07-01.zip`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${TOKEN}` },
      body: new Uint8Array(fromFinder('uploaded')),
    });
    expect(response.status).toBe(201);
    await expectWhole(daemon, '2024-07-01', 'uploaded');
    await writeFile(join(daemon.dataDir, 'inbox', 'docs-2024-08-01.tar'), fromTar('dropped'));
    await expectWhole(daemon, '2024-08-01', 'dropped');
    await daemon.until((status) => status.search.keyword === 'ready');
    const found = await (await fetch(`${daemon.site}/_docshelf/search?q=wombats`)).text();
    expect(found).toContain('"/guide.html"');
    expect(found).not.toMatch(BY_PRODUCT);
    const audit = await run('audit', '2024-08-01');
    expect(audit.json()).toMatchObject({ pages: 2, findings: [] });
    const diff = await run('diff', '2024-07-01', 'docs-2024-06-01.tar.zst');
    expect(diff.code).toBe(0);
    expect(diff.stdout).not.toMatch(BY_PRODUCT);
    const inspected = await run('inspect', 'docs-2024-06-01.tar.zst');
    expect(inspected.json()).toMatchObject({ files: 2, pages: 2, root: 'site/', caseConflicts: [], launchers: [] });
    expect(inspected.stdout).not.toMatch(BY_PRODUCT);
    expect((await run('verify', 'docs-2024-06-01.tar.zst')).json()).toMatchObject({ files: 2, pages: 2 });
  });
});

test('an archive without a start page at its root causes a notice in the status', async () => {
  const daemon = await bench.start({});
  const twoFolders = rawTar([
    { name: 'a/index.html', body: page('A') },
    { name: 'b/index.html', body: page('B') },
  ]);
  await writeFile(join(daemon.dataDir, 'inbox', 'docs-2024-06-01.tar'), twoFolders);
  const { notices } = await daemon.until((status) => status.notices.length > 0);
  expect(notices).toEqual([expect.stringContaining('The start page of version "2024-06-01" is missing')]);
});
