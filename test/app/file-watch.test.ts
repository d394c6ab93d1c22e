import { execFile } from 'node:child_process';
import { appendFile, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { FileWatch } from '../../src/app/file-watch.ts';
import { newFolder } from '../helpers/new-folder.ts';

let folder: string;
let file: string;
let watch: FileWatch;
let changes: ReturnType<typeof vi.fn<() => void>>;

beforeEach(async () => {
  folder = newFolder();
  file = join(folder, 'config.yaml');
  await writeFile(file, 'one');
  changes = vi.fn<() => void>();
  watch = new FileWatch(changes);
});
afterEach(() => watch.stop());

describe('FileWatch (reports changes of the config file and of files that it names)', () => {
  it('reports each change once, and ignores a write that does not change the content', async () => {
    await watch.start([file]);
    await writeFile(file, 'two');
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
    await writeFile(file, 'two');
    await sleep(1_500);
    expect(changes).toHaveBeenCalledTimes(1);
  });

  it('reports a change if a symbolic link is pointed to another file, as in a ConfigMap', async () => {
    for (const [name, text] of Object.entries({ first: 'one', second: 'two' })) {
      await writeFile(join(folder, name), text);
      await symlink(name, join(folder, `to-${name}`));
    }
    await rename(join(folder, 'to-first'), file);
    await watch.start([file]);
    await rename(join(folder, 'to-second'), file);
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
  });

  it('reports a named pipe that replaces a file, although no program writes to the pipe', async () => {
    await watch.start([file]);
    await promisify(execFile)('mkfifo', [join(folder, 'pipe')]);
    await rename(join(folder, 'pipe'), file);
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
  });

  it('reports a file once if a rename moves the file into place', async () => {
    await watch.start([file]);
    await writeFile(join(folder, 'next'), 'two');
    await rename(join(folder, 'next'), file);
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
  });

  it.each([
    ['truncated', () => writeFile(file, '')],
    ['removed and created again', () => rm(file).then(() => writeFile(file, ''))],
  ])(
    'reports a file only once, after its last part was written, if the file is %s and then written in parts',
    async (_how, begin) => {
      await watch.start([file]);
      const seen: string[] = [];
      changes.mockImplementation(() => void readFile(file, 'utf8').then((text) => seen.push(text)));
      await begin();
      for (const piece of ['a', 'b', 'c']) {
        await sleep(50);
        await appendFile(file, piece);
      }
      await vi.waitFor(() => expect(seen).toHaveLength(1), 30_000);
      expect(seen).toEqual(['abc']);
    },
  );

  it('reports a changed file once, even if other files in the same folder are written constantly', async () => {
    await watch.start([file]);
    const other = join(folder, 'log');
    const noise = setInterval(() => void appendFile(other, 'line'), 20);
    await writeFile(join(folder, 'next'), 'two');
    await rename(join(folder, 'next'), file);
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
    clearInterval(noise);
  });

  it('reports a change that occurs between remember() and the next start()', async () => {
    await watch.start([file]);
    await watch.remember();
    // Write "two" when the program that uses the watch has read "one".
    await writeFile(file, 'two');
    await watch.start([file]);
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
  });

  it('reports a file at the start if its content differs from the text that was already read', async () => {
    await watch.start([file], { file, text: 'zero' });
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
  });

  it('does not report a pipe at the start, because its text can be read only once', async () => {
    const pipe = join(folder, 'pipe');
    await promisify(execFile)('mkfifo', [pipe]);
    await watch.start([pipe], { file: pipe, text: 'one' });
    await sleep(1_500);
    expect(changes).not.toHaveBeenCalled();
  });

  it('ignores a change before remember(), which stores the current content as known', async () => {
    await watch.start([file]);
    await writeFile(file, 'two');
    await watch.remember();
    await watch.start([file]);
    await sleep(1_500);
    expect(changes).not.toHaveBeenCalled();
  });

  it('reports the creation of a missing file', async () => {
    const missing = join(folder, 'link');
    await watch.start([file, missing]);
    await writeFile(missing, 'https://bundles.example/b.tar.gz');
    await vi.waitFor(() => expect(changes).toHaveBeenCalledTimes(1), 30_000);
  });
});
