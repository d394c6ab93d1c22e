import { readFile } from 'node:fs/promises';
import { errnoOf } from '../domain/errors.ts';

/** The file's text (UTF-8), or null where there is none. @throws the system's other errors */
export async function readIfThere(file: string): Promise<string | null> {
  const bytes = await readBytesIfThere(file);
  return bytes === null ? null : bytes.toString('utf8');
}

/** The file's bytes, or null where there is none. @throws the system's other errors */
export async function readBytesIfThere(file: string): Promise<Buffer<ArrayBuffer> | null> {
  try {
    return await readFile(file);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return null;
    throw error;
  }
}
