import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { codesOf, openBench } from '../helpers/daemon.ts';
import { bundle, sha256Of } from './bundles.ts';
import { Home, JUNE, WAYS } from './home.ts';

const bench = openBench(afterEach);

describe.each(WAYS)('the commands bundle activate, rollback and remove, run %s,', (way) => {
  test('change which version is active and which versions are stored', async () => {
    const home = await Home.open(bench, way);
    await home.bundle(['import', 'docs-2024-06-01.tar.gz']);
    await home.bundle(['import', 'docs-2024-07-01.tar.gz']);
    expect((await home.bundle(['activate', '2024-06-01'])).json()).toMatchObject({ version: '2024-06-01' });
    expect(await home.shelf()).toEqual(['2024-06-01', ['2024-06-01', '2024-07-01']]);
    expect((await home.bundle(['rollback'])).json()).toMatchObject({ version: '2024-07-01' });
    expect(await home.shelf()).toEqual(['2024-07-01', ['2024-06-01', '2024-07-01']]);

    expect(codesOf(await home.bundle(['remove', '2024-07-01']))).toEqual([69, 'in_use']);
    expect(codesOf(await home.bundle(['activate', '2030-01-01']))).toEqual([69, 'version_not_found']);
    expect(await home.bundle(['remove', '2024-06-01'])).toMatchObject({ code: 0 });
    expect(await home.shelf()).toEqual(['2024-07-01', ['2024-07-01']]);
    expect(await home.page()).toContain('july');
  });

  test('are rejected if the config pins another version', async () => {
    const home = await Home.open(bench, way, { version: '2024-06-01' });
    await home.bundle(['import', 'docs-2024-06-01.tar.gz']);
    expect((await home.bundle(['import', 'docs-2024-07-01.tar.gz'])).json()).toMatchObject({ activated: false });
    for (const args of [['activate', '2024-07-01'], ['rollback'], ['remove', '2024-06-01']]) {
      expect(codesOf(await home.bundle(args))).toEqual([69, 'pinned']);
    }
    expect(await home.shelf()).toEqual(['2024-06-01', ['2024-06-01', '2024-07-01']]);
    expect(await home.page()).toContain('june');
  });
});

describe('a command in a folder without data', () => {
  test.each([['activate', 'v1'], ['rollback'], ['remove', 'v1'], ['list'], ['inspect', 'v1']])(
    'creates no file: bundle %s',
    async (...args) => {
      const folder = await bench.folder();
      const result = await bench.run(['bundle', ...args], { cwd: folder });
      expect({ code: result.code, files: await readdir(folder) }).toEqual({
        code: args[0] === 'list' ? 0 : 69,
        files: [],
      });
    },
  );
});

describe('bundle list and bundle inspect', () => {
  let home: Home;
  beforeEach(async () => {
    home = await Home.open(bench, 'without a daemon');
    await home.bundle(['import', 'docs-2024-06-01.tar.gz']);
  });

  test('list the same versions with and without a daemon', async () => {
    const without = (await home.bundle(['list'])).json();
    const daemon = await bench.start(null, { folder: home.folder });
    await daemon.untilServing('2024-06-01');
    const { active, pinned, versions } = await daemon.status();
    expect((await home.bundle(['list'])).json()).toEqual({ active, pinned, versions });
    expect(without).toEqual({ active: { version: '2024-06-01', digest: sha256Of(JUNE) }, pinned, versions });
    const { stdout } = await bench.run(['bundle', 'list'], { cwd: home.folder });
    expect(stdout).toMatch(/2024-06-01 +active/);
  });

  test('inspect an archive or a stored version, and report each of its site rules that is invalid', async () => {
    expect((await home.bundle(['inspect', 'docs-2024-07-01.tar.gz'])).json()).toMatchObject({
      format: 'tar.gz',
      files: 2,
      pages: 2,
    });
    expect((await home.bundle(['inspect', '2024-06-01'])).json()).toMatchObject({
      digest: sha256Of(JUNE),
      source: 'import',
    });
    const rules = { _redirects: '/a /b\n/c //d\n', _headers: '/*\n  Set-Cookie: a=b\n' };
    const search = { 'found.html': '<!doctype html><title>A</title><div id="docsearch"></div>' };
    const searches = [{ kind: 'DocSearch', state: 'hosted', needs: '*.algolia.net' }];
    await writeFile(join(home.folder, 'docs-2024-08-01.tar.gz'), bundle('august', { ...rules, ...search }));
    const notes = [
      expect.stringMatching(/^_redirects of the bundle, line 2, "\/\/d" is neither a path .*; docshelf ignores it\.$/),
      expect.stringMatching(/^_headers of the bundle, line 2, sets "Set-Cookie"/),
    ];
    expect((await home.bundle(['inspect', 'docs-2024-08-01.tar.gz'])).json()).toMatchObject({ searches, notes });
    await home.bundle(['import', 'docs-2024-08-01.tar.gz']);
    expect((await home.bundle(['inspect', '2024-08-01'])).json()).toMatchObject({ searches, notes });
    const daemon = await bench.start(null, { folder: home.folder });
    await daemon.untilServing('2024-08-01');
    const notice = expect.stringMatching(
      /^The search box of version "2024-08-01" \(DocSearch\) needs an external service/,
    );
    expect((await daemon.status()).notices).toEqual([...notes, notice]);
    const redirect = await fetch(`${daemon.site}/a`, { redirect: 'manual' });
    expect([redirect.status, redirect.headers.get('location')]).toEqual([301, '/b']);
    await daemon.stop();
    await writeFile(join(home.folder, 'bad.zip'), 'PK');
    expect((await home.bundle(['inspect', 'bad.zip'])).code).toBe(65);
    expect((await home.bundle(['inspect', '2030-01-01'])).json()).toMatchObject({ code: 'version_not_found' });
  });
});
