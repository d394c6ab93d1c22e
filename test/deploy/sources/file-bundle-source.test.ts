import { execFileSync } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeEach, expect, test } from 'vitest';
import { fileBundleSource } from '../../../src/deploy/sources/file-bundle-source.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const REQUEST = { resume: null, signal: new AbortController().signal };
let folder: string;
beforeEach(async () => {
  folder = newFolder();
});

const open = (path: string) => fileBundleSource([folder]).open(new Secret(pathToFileURL(path).href), REQUEST);

test('fileBundleSource rejects a link to a folder, a FIFO or a missing file with cannot_read', async () => {
  await mkdir(join(folder, 'dir'));
  execFileSync('mkfifo', [join(folder, 'fifo')]);
  for (const name of ['dir', 'fifo', 'missing.zip']) {
    await expect(open(join(folder, name))).rejects.toMatchObject({ code: 'cannot_read', fields: { retryable: false } });
  }
});

test('fileBundleSource rejects a link to another machine with cannot_read', async () => {
  const link = new Secret('file://server/share/a.zip');
  await expect(fileBundleSource([folder]).open(link, REQUEST)).rejects.toMatchObject({ code: 'cannot_read' });
});

test('fileBundleSource opens a file with a space, a percent sign and an umlaut in its name', async () => {
  const file = join(folder, 'ä 100%.zip');
  await writeFile(file, 'x');
  const bundle = await open(file);
  bundle.close();
  expect(bundle.fileName).toBe('ä 100%.zip');
});

test('fileBundleSource ends the stream before the announced size if the file shrinks during the read', async () => {
  const file = join(folder, 'a.zip');
  await writeFile(file, Buffer.alloc(600 * 1024));
  const bundle = await open(file);
  let bytes = 0;
  for await (const chunk of bundle.stream) {
    bytes += chunk.length;
    await truncate(file, bytes);
  }
  expect(bundle.totalBytes).toBe(600 * 1024);
  expect(bytes).toBeLessThan(600 * 1024);
});

test('fileBundleSource rejects a path or symbolic link to a file outside of the allowed folders, but follows symbolic links within these folders', async () => {
  await mkdir(join(folder, 'in'));
  await writeFile(join(folder, 'secret'), 'x');
  await writeFile(join(folder, 'in', 'a.zip'), 'x');
  await symlink(join(folder, 'secret'), join(folder, 'in', 'out.zip'));
  await symlink(join(folder, 'in', 'a.zip'), join(folder, 'in', 'b.zip'));
  await symlink(join(folder, 'in'), join(folder, 'root'));
  const source = fileBundleSource([join(folder, 'root')]);
  const at = (...path: string[]) => source.open(new Secret(pathToFileURL(join(folder, ...path)).href), REQUEST);
  for (const path of [['secret'], ['in', 'out.zip'], ['in', '..', 'secret'], ['root', '..', 'secret']]) {
    await expect(at(...path)).rejects.toMatchObject({
      code: 'cannot_read',
      next: expect.stringContaining('fileRoots'),
    });
  }
  for (const path of [
    ['in', 'a.zip'],
    ['in', 'b.zip'],
    ['root', 'a.zip'],
  ])
    (await at(...path)).close();
});
