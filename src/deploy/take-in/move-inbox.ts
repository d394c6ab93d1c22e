import { existsSync } from 'node:fs';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { SIGNATURE_EXTENSION } from '../../domain/file-name.ts';
import { ifThere } from '../../files/index.ts';
import { isArchiveName } from './signature.ts';

/** Archives that were dropped before the config went over to a list, or back. One whose name is taken stays. */
export async function moveInbox(from: string, to: string): Promise<void> {
  const names = (await namesIn(from)).filter((name) => isArchiveName(name) || name.endsWith(SIGNATURE_EXTENSION));
  if (names.length > 0) await mkdir(to, { recursive: true });
  // A signature goes before its archive, which is taken in as soon as it is there.
  for (const name of names.sort().reverse()) {
    // One that cannot be moved (a mount of its own) stays too: the notices name it.
    if (!existsSync(join(to, name))) await rename(join(from, name), join(to, name)).catch(() => undefined);
  }
}

export async function archivesIn(inbox: string): Promise<string[]> {
  return (await namesIn(inbox)).filter(isArchiveName).sort();
}

async function namesIn(folder: string): Promise<string[]> {
  return (await ifThere(readdir(folder))) ?? [];
}
