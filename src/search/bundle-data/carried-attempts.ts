import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { DocshelfError, type PlainError } from '../../domain/errors.ts';
import { OWN_FOLDER } from '../../domain/release.ts';
import { replaceFile } from '../../files/index.ts';

/** Of a release whose bundle carries search data. */
export const carriedFolder = (releaseDir: string): string => join(releaseDir, OWN_FOLDER, 'search');

/** One that the daemon's own end has cut off may go on; two are no chance. */
const ATTEMPTS_MAX = 2;

interface Attempts {
  readonly begun: number;
  readonly refused: PlainError | null;
}

/** What became of the search data that bundles carry, by the bundle's digest: it outlives the process, and a release that is taken in anew. */
export class CarriedAttempts {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** False where the data were refused, or the attempts so far have not come to an end. */
  async begin(digest: string): Promise<boolean> {
    const { begun, refused } = await this.#read(digest);
    if (refused !== null) return false;
    if (begun >= ATTEMPTS_MAX) {
      await this.refuse(digest, unended(begun));
      return false;
    }
    await this.#write(digest, { begun: begun + 1, refused });
    return true;
  }

  /** They were used, or the attempt was given up in order. */
  async end(digest: string): Promise<void> {
    await rm(this.#file(digest), { force: true });
  }

  async refuse(digest: string, refused: PlainError): Promise<void> {
    await this.#write(digest, { begun: 0, refused });
  }

  async refusal(digest: string): Promise<PlainError | null> {
    return (await this.#read(digest)).refused;
  }

  async #read(digest: string): Promise<Attempts> {
    const text = await readFile(this.#file(digest), 'utf8').catch(() => null);
    return text === null ? { begun: 0, refused: null } : (JSON.parse(text) as Attempts);
  }

  async #write(digest: string, attempts: Attempts): Promise<void> {
    await mkdir(this.#folder, { recursive: true });
    await replaceFile(this.#file(digest), JSON.stringify(attempts));
  }

  #file(digest: string): string {
    return join(this.#folder, `${digest}.json`);
  }
}

function unended(begun: number): PlainError {
  const state = `reading them has not come to an end in ${begun} attempts`;
  return new DocshelfError('bad_search_data', `Cannot use the bundle's search data: ${state}`, {
    next: 'The pages are indexed instead. Export again to save that time.',
  }).toPlain();
}
