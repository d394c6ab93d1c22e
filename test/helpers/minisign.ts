import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export const MINISIGN_DIR = join(import.meta.dirname, '../fixtures/minisign');

/** Reads a key or a signature for tests. */
export const minisignFile = (name: string): string => readFileSync(join(MINISIGN_DIR, name), 'utf8');

/** Secret key that belongs to `throwaway.pub`. */
export const SECRET_KEY = minisignFile('throwaway.key');
/** `staticExport.signature` that requires a signature of this key. */
export const SIGNATURE_REQUIRED = {
  required: true,
  publicKeys: [minisignFile('throwaway.pub')],
  text: null,
  link: null,
};
