import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Writes files under a folder, by their paths. @returns the folder */
export async function writeFiles(folder: string, files: Files): Promise<string> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await writeFile(join(folder, path), content);
  }
  return folder;
}
