import type { Config } from '../../config/index.ts';
import { type Diagnosis, faulty, sound } from '../../domain/diagnosis.ts';
import { toDocshelfError } from '../../domain/errors.ts';
import { FolderKeys } from '../../http/keys/folder-keys.ts';

const SUBJECT = 'keys.json';

/** Nothing is said of a folder without keys. */
export async function checkKeys({ storage }: Config): Promise<Diagnosis[]> {
  const store = await FolderKeys.open({ dir: storage.dir, onFault: () => undefined });
  await store.stop();
  const { fault, keys } = store;
  if (fault !== null) return [faulty('keys', SUBJECT, toDocshelfError(fault))];
  return keys.length === 0 ? [] : [sound('keys', SUBJECT, `${keys.length} keys made at run time can be read.`)];
}
