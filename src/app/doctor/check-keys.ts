import type { Config } from '../../config/index.ts';
import { toDocshelfError } from '../../domain/errors.ts';
import { counted } from '../../domain/text.ts';
import { FolderKeys } from '../../http/keys/folder-keys.ts';
import { type Diagnosis, faulty, sound } from './diagnosis.ts';

const SUBJECT = 'keys.json';

/** Nothing is said of a folder without keys, nor where they are in the database. */
export async function checkKeys({ storage, database }: Config): Promise<Diagnosis[]> {
  if (database.urlFile !== null) return [];
  const store = await FolderKeys.open({ dir: storage.dir, onFault: () => undefined });
  await store.stop();
  const { fault, keys } = store;
  if (fault !== null) return [faulty('keys', SUBJECT, toDocshelfError(fault))];
  return keys.length === 0
    ? []
    : [sound('keys', SUBJECT, `docshelf can read ${counted(keys.length, 'key')} made at run time.`)];
}
