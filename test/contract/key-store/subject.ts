import { join } from 'node:path';
import { FolderKeys } from '../../../src/http/keys/folder-keys.ts';
import type { KeyStore } from '../../../src/http/keys/key-store.ts';
import { newFolder } from '../../helpers/new-folder.ts';

/** A kind of store, opened like several daemons would. */
export interface KeysSubject {
  readonly store: KeyStore;
  /** Opens the same store like another daemon. */
  another(): Promise<KeyStore>;
  /** All stored data as text. */
  written(): Promise<string>;
  close(): Promise<void>;
}

export async function folderSubject(): Promise<KeysSubject> {
  const dir = newFolder();
  const stores: KeyStore[] = [];
  const another = async (): Promise<KeyStore> => {
    const store = await FolderKeys.open({ dir, onFault: () => undefined, readEveryMs: 20 });
    stores.push(store);
    return store;
  };
  return {
    store: await another(),
    another,
    written: async () => {
      const { readdir, readFile } = await import('node:fs/promises');
      const names = await readdir(dir);
      return (await Promise.all(names.map((name) => readFile(join(dir, name), 'latin1')))).join('\n');
    },
    close: async () => {
      await Promise.all(stores.map((store) => store.stop()));
    },
  };
}
