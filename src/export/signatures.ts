import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type SignedFacts, signedComment, signFile } from '../archive/index.ts';
import type { Secret } from '../domain/secret.ts';
import { readIfThere, replaceFile } from '../files/index.ts';
import type { SharedJobs } from './jobs/shared-jobs.ts';

const READ_MS_MAX = 30_000;
const nameOf = (sha256: string): string => `signatures/${sha256}.minisig`;

export class Signatures {
  readonly #dir: string;
  readonly #key: () => Secret | null;
  readonly #shared: SharedJobs | null;

  constructor(dir: string, key: () => Secret | null, shared: SharedJobs | null = null) {
    this.#dir = dir;
    this.#key = key;
    this.#shared = shared;
  }

  async has(sha256: string): Promise<boolean> {
    return this.#key() === null || (await this.read(sha256)) !== null;
  }

  /** @throws DocshelfError `config_invalid` if the signing key is invalid */
  async sign(sha256: string, archive: string, words: SignedFacts, signal: AbortSignal): Promise<void> {
    const key = this.#key();
    if (key === null) return;
    const text = await signFile(archive, key.reveal(), { trustedComment: signedComment(words) });
    await replaceFile(this.#pathOf(sha256), text);
    await this.#shared?.keepFile(nameOf(sha256), signal);
  }

  async read(sha256: string): Promise<string | null> {
    const text = await readIfThere(this.#pathOf(sha256));
    if (text !== null || this.#shared === null || this.#key() === null) return text;
    const theirs = await this.#shared.readFile(nameOf(sha256), AbortSignal.timeout(READ_MS_MAX));
    if (theirs !== null) await replaceFile(this.#pathOf(sha256), theirs);
    return theirs?.toString() ?? null;
  }

  async remove(sha256: string): Promise<void> {
    await rm(this.#pathOf(sha256), { force: true });
    await this.#shared?.remove(nameOf(sha256));
  }

  #pathOf(sha256: string): string {
    return join(this.#dir, `${sha256}.minisig`);
  }
}
