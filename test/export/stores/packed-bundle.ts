import { hash, randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { PackedBundle } from '../../../src/export/ports.ts';

/** Writes bytes to a new file, like packing does before a store receives it. */
export async function packedBundle(folder: string, bytes: Uint8Array): Promise<PackedBundle> {
  const file = join(folder, `${randomBytes(6).toString('hex')}.tar.gz`);
  await writeFile(file, bytes);
  return { sha256: hash('sha256', bytes), sizeBytes: bytes.length, file };
}
