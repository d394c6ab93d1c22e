import { stat } from 'node:fs/promises';

/** What changes when a file's bytes do: size, time and inode. Null where there is no file of that name. */
export async function stampOf(file: string): Promise<string | null> {
  const info = await stat(file, { bigint: true }).catch(() => null);
  return info?.isFile() === true ? `${info.size}-${info.mtimeNs}-${info.ino}` : null;
}
