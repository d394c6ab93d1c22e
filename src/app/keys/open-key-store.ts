import type { Database } from '../../database/database.ts';
import { FolderKeys } from '../../http/keys/folder-keys.ts';
import type { KeyStore } from '../../http/keys/key-store.ts';

interface KeyStoreParts {
  /** Null: keys made at run time are of this data folder. */
  readonly database: Database | null;
  readonly dir: string;
  readonly onFault: (error: unknown) => void;
}

export async function openKeyStore({ database, dir, onFault }: KeyStoreParts): Promise<KeyStore> {
  if (database === null) return FolderKeys.open({ dir, onFault });
  const { PostgresKeys } = await import('../../http/keys/postgres-keys.ts');
  return PostgresKeys.open({ database, onFault });
}
