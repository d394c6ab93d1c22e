import { stat } from 'node:fs/promises';

/** Changes with a file's bytes: size, time and inode. Null where there is no such file. */
export async function stampOf(file: string): Promise<string | null> {
  const info = await stat(file, { bigint: true }).catch(() => null);
  return info?.isFile() === true ? `${info.size}-${info.mtimeNs}-${info.ino}` : null;
}
