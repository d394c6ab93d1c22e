import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FolderKeys } from '../../../src/http/keys/folder-keys.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { smallDisk } from '../../helpers/small-disk.ts';
import { madeKey } from './made-key.ts';

describe('FolderKeys (API keys in the data folder)', () => {
  let dir: string;
  const opened: FolderKeys[] = [];
  const faults: Error[] = [];
  const open = async (folder = dir): Promise<FolderKeys> => {
    const onFault = (error: unknown) => faults.push(error as Error);
    const keys = await FolderKeys.open({ dir: folder, onFault, readEveryMs: 20, usesEveryMs: 20 });
    opened.push(keys);
    return keys;
  };

  /** Replaces the key file in one step, because a store that reads half a file would report another error. */
  const replace = async (text: string): Promise<void> => {
    await writeFile(join(dir, 'next'), text);
    await rename(join(dir, 'next'), join(dir, 'keys.json'));
  };

  beforeEach(() => {
    dir = newFolder();
  });
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((keys) => keys.stop()));
    faults.length = 0;
  });

  it('writes only files that their owner alone can read, and leaves no temporary files', async () => {
    const keys = await open();
    await keys.add(madeKey('one'));
    keys.noteUse('a'.repeat(64));
    await keys.stop();
    const names = (await readdir(dir)).filter((name) => name !== 'keys.lock').sort();
    expect(names).toEqual(['key-uses.json', 'keys.json']);
    for (const name of names) expect((await stat(join(dir, name))).mode & 0o777).toBe(0o600);
  });

  it.each([
    ['half a file', '{"format":1,"keys":[{"id":"on', 'it is not a list of keys'],
    ['no bytes', '', 'it is not a list of keys'],
    ['an invalid row', '{"format":1,"keys":[{"id":"one"}]}', 'key 1 of 1'],
    [
      'a row with an invalid digest',
      JSON.stringify({ keys: [madeKey('one'), { ...madeKey('two'), sha256: 'x' }] }),
      'key 2 of 2',
    ],
  ])('keeps the last valid keys if the file contains %s, and does not overwrite the file', async (_, text, place) => {
    const keys = await open();
    await keys.add(madeKey('one'));
    const [before] = [keys.keys];
    const sound = await readFile(join(dir, 'keys.json'), 'utf8');
    await replace(text);
    await expect.poll(() => keys.fault?.message).toContain(`the file is damaged (${place})`);
    expect(keys.keys).toEqual(before);
    await expect(keys.add(madeKey('two'))).rejects.toMatchObject({ code: 'cannot_read', next: expect.any(String) });
    await expect(keys.remove('one')).rejects.toMatchObject({ code: 'cannot_read' });
    await expect(keys.list()).rejects.toMatchObject({ code: 'cannot_read' });
    expect(await readFile(join(dir, 'keys.json'), 'utf8')).toBe(text);
    expect(faults).toHaveLength(1);

    await replace(sound);
    await expect.poll(() => keys.fault).toBeNull();
    await keys.add(madeKey('two'));
    expect((await keys.list()).map(({ id }) => id)).toEqual(['one', 'two']);
  });

  it('starts without keys if the file is damaged, and passes the error to its error callback', async () => {
    await writeFile(join(dir, 'keys.json'), '[]');
    const keys = await open();
    expect(keys.keys).toEqual([]);
    expect(keys.fault).toMatchObject({ code: 'cannot_read' });
    expect(faults).toHaveLength(1);
  });

  it('starts with an error that names the path if keys.json is a folder', async () => {
    await mkdir(join(dir, 'keys.json'));
    const message = `Cannot read the keys in "${join(dir, 'keys.json')}": it is a folder`;
    expect((await open()).fault).toMatchObject({ code: 'cannot_read', message });
  });

  it('reads and adds no keys if a newer docshelf has written the file', async () => {
    await writeFile(join(dir, 'keys.json'), '{"format":2,"keys":{}}');
    const keys = await open();
    expect(keys.fault).toMatchObject({ code: 'data_folder_newer' });
    await expect(keys.add(madeKey('one'))).rejects.toMatchObject({ code: 'data_folder_newer' });
  });

  it('has no keys after the file is deleted', async () => {
    const keys = await open();
    await keys.add(madeKey('one'));
    await rm(join(dir, 'keys.json'));
    await expect.poll(() => keys.keys).toEqual([]);
    expect(keys.fault).toBeNull();
  });

  it('writes the last use of each key with a delay, and replaces a damaged file of last uses', async () => {
    const keys = await open();
    await writeFile(join(dir, 'key-uses.json'), '{"x":1,');
    const { sha256 } = madeKey('one');
    keys.noteUse(sha256);
    await expect.poll(() => readFile(join(dir, 'key-uses.json'), 'utf8')).toContain(sha256);
    expect(JSON.parse(await readFile(join(dir, 'key-uses.json'), 'utf8'))).toEqual({
      [sha256]: (await keys.lastUses()).get(sha256),
    });
  });

  const disk = smallDisk('256k');
  it.skipIf(disk === null)('changes nothing if the disk is full (needs to mount a tmpfs)', async () => {
    const folder = disk ?? '';
    const keys = await open(folder);
    await keys.add(madeKey('one'));
    const before = await readFile(join(folder, 'keys.json'), 'utf8');
    await writeFile(join(folder, 'filler'), Buffer.alloc(2 ** 20)).catch(() => undefined);
    await expect(keys.add(madeKey('two'))).rejects.toMatchObject({ code: 'cannot_write', next: expect.any(String) });
    await expect(keys.remove('one')).rejects.toMatchObject({ code: 'cannot_write' });
    expect(keys.keys.map(({ id }) => id)).toEqual(['one']);
    expect(await readFile(join(folder, 'keys.json'), 'utf8')).toBe(before);
    await rm(join(folder, 'filler'));
    await keys.remove('one');
    expect(await keys.list()).toEqual([]);
  });
});
