import { execFileSync } from 'node:child_process';
import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, expect, test } from 'vitest';
import { checkValuesFile, writeValues } from '../../../src/cli/export/write-values.ts';
import { Secret } from '../../../src/domain/secret.ts';
import { newFolder } from '../../helpers/new-folder.ts';

const VALUES = { bundleUrl: new Secret('https://x.test/b?s=1'), version: 'v1', sha256: 'ab' };
const TEXT = 'staticExport:\n  version: v0\n';

let folder: string;
let file: string;
beforeEach(() => {
  folder = newFolder();
  file = join(folder, 'values.yaml');
});

const modeOf = async (path: string) => (await stat(path)).mode & 0o7777;

test('writeValues() creates a file that only its owner can read', async () => {
  await checkValuesFile(file);
  expect(await readdir(folder)).toEqual([]);
  await writeValues(file, VALUES);
  expect(await readFile(file, 'utf8')).toBe(
    'staticExport:\n  bundleUrl: "https://x.test/b?s=1"\n  version: "v1"\n  sha256: "ab"\n',
  );
  expect(await modeOf(file)).toBe(0o600);
});

test('writeValues() keeps the mode of an existing file, replaces it in one step, and leaves no other file', async () => {
  await writeFile(file, TEXT);
  await chmod(file, 0o640);
  const before = await stat(file);
  await writeValues(file, VALUES);
  expect(await modeOf(file)).toBe(0o640);
  expect((await stat(file)).ino).not.toBe(before.ino);
  expect(await readdir(folder)).toEqual(['values.yaml']);
});

test('writeValues() keeps a symbolic link, and writes the target file of the link', async () => {
  await mkdir(join(folder, 'deep'));
  await writeFile(join(folder, 'deep/real.yaml'), TEXT);
  await symlink('deep/real.yaml', file);
  await writeValues(file, VALUES);
  expect(await readFile(join(folder, 'deep/real.yaml'), 'utf8')).toContain('"v1"');
  expect(await readdir(folder)).toEqual(['deep', 'values.yaml']);
  expect((await stat(join(folder, 'deep/real.yaml'))).nlink).toBe(1);
});

test('writeValues() does not write a file that already has the values', async () => {
  await writeValues(file, VALUES);
  const before = await stat(file);
  await writeValues(file, VALUES);
  expect((await stat(file)).ino).toBe(before.ino);
});

test.each([
  ['a folder', 'cannot_read', () => mkdir(file)],
  ['a named pipe', 'cannot_read', () => execFileSync('mkfifo', [file])],
  ['a missing folder', 'cannot_write', () => rm(folder, { recursive: true })],
  ['text that is not a map', 'cannot_write', () => writeFile(file, '- a\n')],
  ['text that is not UTF-8', 'cannot_read', () => writeFile(file, Buffer.from([0xff, 0xfe]))],
  ['a config with bundleUrlFile', 'cannot_write', () => writeFile(file, 'staticExport: { bundleUrlFile: link }\n')],
])('checkValuesFile() rejects a file to which the values cannot be written: %s', async (_, code, prepare) => {
  await prepare();
  await expect(checkValuesFile(file)).rejects.toMatchObject({ code });
});
