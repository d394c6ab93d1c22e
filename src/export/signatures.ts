import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type SignedWords, signedComment, signFile } from '../archive/index.ts';
import type { Secret } from '../domain/secret.ts';
import { readIfThere, replaceFile } from '../files/index.ts';

/** minisign signatures of bundles, by the digest of the archive: `signatures/<sha256>.minisig`. */
export class Signatures {
  readonly #dir: string;
  readonly #key: () => Secret | null;

  /** @param key the secret key as the config has it now; null: bundles are not signed */
  constructor(dir: string, key: () => Secret | null) {
    this.#dir = dir;
    this.#key = key;
  }

  /** True where bundles are not signed, too. */
  async has(sha256: string): Promise<boolean> {
    return this.#key() === null || (await this.read(sha256)) !== null;
  }

  /** @throws DocshelfError `config_invalid` where the key is none */
  async sign(sha256: string, archive: string, words: SignedWords): Promise<void> {
    const key = this.#key();
    if (key === null) return;
    const text = await signFile(archive, key.reveal(), { trustedComment: signedComment(words) });
    await replaceFile(this.#pathOf(sha256), text);
  }

  async read(sha256: string): Promise<string | null> {
    return readIfThere(this.#pathOf(sha256));
  }

  async remove(sha256: string): Promise<void> {
    await rm(this.#pathOf(sha256), { force: true });
  }

  #pathOf(sha256: string): string {
    return join(this.#dir, `${sha256}.minisig`);
  }
}
