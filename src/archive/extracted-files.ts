import { OWN_FOLDER } from '../domain/release.ts';
import { nameAt, type Placement, placeOf } from './layout.ts';
import type { ArchiveListing } from './listing.ts';

export interface ExtractedFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

const DIGEST_BYTES = 32;

/** Files of an archive that were read, by their names in it: its listing has all of them but their digests. */
export class ExtractedFiles implements Iterable<ExtractedFile> {
  readonly #listing: ArchiveListing;
  readonly #digests: Buffer;
  readonly #isThere: Uint8Array;
  #length = 0;
  /** Sorted once for all who ask. */
  #indexes: Uint32Array | null = null;

  constructor(listing: ArchiveListing) {
    this.#listing = listing;
    this.#digests = Buffer.alloc(DIGEST_BYTES * listing.entries.length);
    this.#isThere = new Uint8Array(listing.entries.length);
  }

  get length(): number {
    return this.#length;
  }

  /** @param index its number in the listing */
  add(index: number, sha256: string): void {
    this.#digests.write(sha256, index * DIGEST_BYTES, 'hex');
    this.#isThere[index] = 1;
    this.#length += 1;
    this.#indexes = null;
  }

  /** True for a path of the site. */
  has(path: string): boolean {
    const index = this.#listing.entries.indexOf(nameAt({ place: 'site', path }, this.#listing));
    return index >= 0 && this.#isThere[index] === 1 && !path.startsWith(OWN_FOLDER);
  }

  /** Numbers in the listing, by name. */
  indexes(): Uint32Array {
    this.#indexes ??= this.#listing.entries.filesByName().filter((index) => this.#isThere[index] === 1);
    return this.#indexes;
  }

  at(index: number): ExtractedFile {
    const entry = this.#listing.entries.at(index);
    const at = index * DIGEST_BYTES;
    return {
      path: manifestPath(placeOf(entry, this.#listing) as Placement),
      size: entry.size,
      sha256: this.#digests.toString('hex', at, at + DIGEST_BYTES),
    };
  }

  *[Symbol.iterator](): Generator<ExtractedFile> {
    for (const index of this.indexes()) yield this.at(index);
  }
}

/** By which a manifest names it. */
function manifestPath({ place, path }: Placement): string {
  return place === 'own' ? OWN_FOLDER + path : path;
}
