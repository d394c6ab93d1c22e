import { mkdir, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { openDaemonSocket, removeDaemonSocket } from '../../src/deploy/daemons.ts';
import { newFolder } from '../helpers/new-folder.ts';

const UID = process.getuid?.() ?? 0;
let folder: string;
let paths: { readonly dir: string; readonly daemons: string };
beforeEach(async () => {
  folder = newFolder();
  paths = { dir: join(folder, 'data'), daemons: join(folder, 'data/daemons') };
  await mkdir(paths.daemons, { recursive: true });
  // Uses a new folder for temporary files of this user.
  vi.stubEnv('TMPDIR', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
});

/** Returns the path instead of listening. */
const listenOn = (path: string) => Promise.resolve(path);
/** A file system without sockets in the data folder. */
const onlyElsewhere = (path: string) =>
  path.startsWith(paths.dir) ? Promise.reject(new Error('EOPNOTSUPP')) : Promise.resolve(path);

describe('openDaemonSocket()', () => {
  test('creates the socket in the data folder', async () => {
    const { socket, listener } = await openDaemonSocket(paths, listenOn);
    expect([socket.path, listener]).toEqual([join(paths.daemons, `${socket.id}.sock`), socket.path]);
  });

  test('creates a socket with a different name for each daemon in a private folder if the data folder cannot contain a socket', async () => {
    const [one, other] = [await openDaemonSocket(paths, onlyElsewhere), await openDaemonSocket(paths, onlyElsewhere)];
    const place = join(folder, `docshelf-${UID}`);
    expect([dirname(one.socket.path), (await stat(place)).mode & 0o777]).toEqual([place, 0o700]);
    const [name, id] = basename(one.socket.path, '.sock').split('-');
    expect([name, id]).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/), one.socket.id]);
    expect(basename(other.socket.path).startsWith(`${name}-`)).toBe(true);
    expect(other.socket.path).not.toBe(one.socket.path);
  });

  test('restores the mode of the private folder, and rejects a symbolic link at the path of that folder', async () => {
    const place = join(folder, `docshelf-${UID}`);
    await mkdir(place);
    await openDaemonSocket(paths, onlyElsewhere);
    expect((await stat(place)).mode & 0o777).toBe(0o700);
    await rm(place, { recursive: true });
    await symlink(paths.dir, place);
    await expect(openDaemonSocket(paths, onlyElsewhere)).rejects.toMatchObject({ code: 'cannot_listen' });
  });

  test('fails with cannot_listen if the path of the socket is too long in the data folder and in the private folder', async () => {
    vi.stubEnv('TMPDIR', join(folder, 'x'.repeat(100)));
    await mkdir(join(folder, 'x'.repeat(100)));
    await expect(openDaemonSocket(paths, onlyElsewhere)).rejects.toMatchObject({ code: 'cannot_listen' });
  });
});

describe('removeDaemonSocket()', () => {
  test('removes only the socket of the given daemon, and never a regular file at the path of that socket', async () => {
    const path = join(paths.daemons, 'abc.sock');
    await writeFile(path, 'a file');
    await removeDaemonSocket({ id: 'abc', path });
    expect((await stat(path)).isFile()).toBe(true);
    await rm(path);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(path, resolve));
    await removeDaemonSocket({ id: 'other', path });
    expect((await stat(path)).isSocket()).toBe(true);
    await removeDaemonSocket({ id: 'abc', path });
    await expect(stat(path)).rejects.toThrow('ENOENT');
    server.close();
  });
});
