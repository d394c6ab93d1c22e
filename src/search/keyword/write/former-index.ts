import { constants, copyFileSync, linkSync } from 'node:fs';
import type { DatabaseSync } from 'node:sqlite';
import { isLinkRefused } from '../../../files/index.ts';
import { FINGERPRINT_BYTES, Fingerprints } from '../../fingerprints.ts';
import { Numbers } from '../../numbers.ts';
import { arrayIn, basePathOf, damaged, GONE, isSealed, openSound, type SoundIndex, sealOf } from '../format.ts';
import { COLUMNS } from '../terms.ts';
import { type CountedWords, readCountedWords } from '../vocabulary.ts';

/** More places than this many times the sections: what is gone makes queries slow, and the index is written anew. */
const PLACES_A_SECTION_MAX = 2;

/** Never over a file: one that is there may be the base of a version that is served. */
const COPY = constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE;

/** The index of the version before, which one of the next goes on from: what both have keeps its place. */
export class FormerIndex {
  readonly #path: string;
  readonly #seal: number;
  /** Null: it is whole, and the base of what goes on from it. */
  readonly #base: SoundIndex['base'];
  readonly count: number;
  /** Place of each section. */
  readonly placeOf: Uint32Array;
  /** Of the file, those of sections that are gone among them. */
  readonly places: number;
  readonly lengths: readonly Uint16Array[];
  readonly runs: number;
  readonly words: CountedWords;
  readonly #digests: Uint8Array;
  readonly #known: Fingerprints;
  /** By number of a digest: the first section that has it. */
  readonly #sectionOf = new Numbers();
  readonly #isClaimed: Uint8Array;

  private constructor(path: string, { database, base }: SoundIndex) {
    this.#path = path;
    this.#seal = sealOf(path);
    this.#base = base;
    const numbers = new Uint32Array(arrayOf(database, 'numbers').buffer);
    this.places = numbers.length;
    this.lengths = COLUMNS.map((name) => new Uint16Array(arrayOf(database, `${name} lengths`).buffer));
    this.count = this.lengths[0]?.length ?? 0;
    this.placeOf = placesOf(numbers, this.count);
    this.#digests = arrayOf(database, 'digests');
    this.words = readCountedWords(arrayOf(database, 'vocabulary'), arrayOf(database, 'vocabulary counts'));
    this.runs = new Uint32Array(arrayOf(database, 'runs').buffer)[0] ?? 0;
    this.#isClaimed = new Uint8Array(this.count);
    this.#known = new Fingerprints(this.count);
    for (let number = 0; number < this.count; number += 1) {
      const known = this.#known.add(this.#digests, FINGERPRINT_BYTES * number);
      if (known === this.#sectionOf.length) this.#sectionOf.push(number);
    }
  }

  /**
   * Null where there is none to go on from: of another format, damaged, or with more gone than there.
   * @param isSealKnown it was found whole before. What has changed since in a base is found when the next one is opened; a file over one
   * is read through all the same, since the next one is a copy of it, with a seal of its own.
   */
  static open(path: string, isSealKnown = false): FormerIndex | null {
    try {
      const sound = openSound(path, isSealKnown);
      try {
        const former = new FormerIndex(path, sound);
        const isSound = former.isWhole || !isSealKnown || isSealed(path);
        return isSound && former.places <= PLACES_A_SECTION_MAX * former.count ? former : null;
      } finally {
        sound.database.close();
      }
    } catch {
      return null;
    }
  }

  get isWhole(): boolean {
    return this.#base === null;
  }

  /**
   * Puts its base, or itself where it is whole, where the base of the index at `path` is, and at `path` what it has over its base.
   * @returns the seal of the base
   * @throws DocshelfError `index_damaged` where it has been replaced since it was opened; ENOENT where it is gone
   */
  goOnAt(path: string): number {
    const base = this.#base ?? { path: this.#path, seal: this.#seal };
    linkOrCopy(base.path, basePathOf(path));
    this.#checkSame(basePathOf(path), base.seal);
    if (!this.isWhole) {
      copyFileSync(this.#path, path, COPY);
      this.#checkSame(path, this.#seal);
    }
    return base.seal;
  }

  #checkSame(taken: string, seal: number): void {
    if (sealOf(taken) !== seal) throw damaged(this.#path, 'another one has taken its place');
  }

  digest(number: number): Uint8Array {
    return this.#digests.subarray(FINGERPRINT_BYTES * number, FINGERPRINT_BYTES * (number + 1));
  }

  /** The number of a section with this digest that nobody has claimed before; null without. */
  claim(digest: Uint8Array): number | null {
    const known = this.#known.find(digest);
    const number = known === null ? null : this.#sectionOf.at(known);
    if (number === null || this.#isClaimed[number] === 1) return null;
    this.#isClaimed[number] = 1;
    return number;
  }

  /** Sections that nobody has claimed. */
  *unclaimed(): Generator<number> {
    for (let number = 0; number < this.count; number += 1) if (this.#isClaimed[number] === 0) yield number;
  }
}

/** The place of each section, by the number of the section at each place. */
export function placesOf(numbers: Uint32Array, count: number): Uint32Array {
  const places = new Uint32Array(count);
  for (let place = 0; place < numbers.length; place += 1) {
    const number = numbers[place] ?? GONE;
    if (number !== GONE) places[number] = place;
  }
  return places;
}

function arrayOf(database: DatabaseSync, name: string): Uint8Array<ArrayBuffer> {
  const bytes = arrayIn(database, name);
  if (bytes === null) throw new Error(`it has no ${name}`);
  return bytes;
}

function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!isLinkRefused(error)) throw error;
    copyFileSync(from, to, COPY);
  }
}
