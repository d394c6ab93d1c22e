import type { ArchiveLimits } from '../domain/limits.ts';
import { OWN_FOLDER } from '../domain/release.ts';
import { EntryTable, NameTable, Texts } from './entry-table.ts';
import {
  type ArchiveEntry,
  isByProduct,
  type Layout,
  layoutOf,
  NAMED_MAX,
  nameAt,
  type Placement,
  placeOf,
} from './layout.ts';
import type { Refuse } from './rules.ts';

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.zst' | 'zip';

export interface ArchiveListing extends Layout {
  readonly format: ArchiveFormat;
  readonly archiveBytes: number;
  readonly entries: EntryTable;
  /** Number of files, including launchers and the files of `_docshelf/`, but without by-products (`isByProduct`). */
  readonly files: number;
  readonly totalBytes: number;
  /** Up to `NAMED_MAX` pairs of names that differ only by case. If the data folder ignores case, docshelf rejects the archive. */
  readonly caseConflicts: readonly (readonly [string, string])[];
}

/** Maximum UTF-8 bytes of all entry names, including implied folders. Enough for 1,000,000 files with names of 128 bytes. */
const NAMES_BYTES_MAX = 128 * 1024 ** 2;

export class ListingBuilder {
  readonly #refuse: Refuse;
  readonly #limits: ArchiveLimits;
  readonly #foldsCase: boolean;
  readonly #texts = new Texts();
  readonly #nodes = new NameTable(this.#texts);
  readonly #entries = new EntryTable(this.#texts, this.#nodes);
  readonly #caseConflicts: (readonly [string, string])[] = [];
  #files = 0;
  #totalBytes = 0;
  readonly #byProducts = { files: 0, bytes: 0 };
  #namesBytes = 0;

  constructor(refuse: Refuse, limits: ArchiveLimits, foldsCase: boolean) {
    this.#refuse = refuse;
    this.#limits = limits;
    this.#foldsCase = foldsCase;
  }

  add(entry: ArchiveEntry): void {
    const { entriesMax, fileBytesMax, totalBytesMax } = this.#limits;
    if (entry.kind === 'file' && entry.name === '') throw this.#refuse('name_empty', 'it has a file without a name');
    if (entry.size > fileBytesMax) throw this.#refused('file_too_large', `has more than ${fileBytesMax} bytes`, entry);
    this.#entries.add(this.#place(entry), Buffer.byteLength(entry.name), entry.kind, entry.size);
    this.#totalBytes += entry.size;
    if (entry.kind === 'file') this.#files += 1;
    if (isByProduct(entry.name)) {
      this.#byProducts.files += Number(entry.kind === 'file');
      this.#byProducts.bytes += entry.size;
    }
    if (Math.max(this.#files, this.#nodes.size - this.#files) > entriesMax)
      throw this.#refuse('too_many_entries', `it has more than ${entriesMax} files, or as many folders`);
    if (this.#totalBytes > totalBytesMax)
      throw this.#refuse('total_too_large', `its files have more than ${totalBytesMax} bytes together`);
  }

  finish(format: ArchiveFormat, archiveBytes: number): ArchiveListing {
    const entries = this.#entries;
    const layout = layoutOf(entries);
    for (const entry of layout.ownRoot === '' ? [] : entries) {
      const placed = placeOf(entry, layout);
      if (placed?.place !== 'site' || !placed.path.startsWith(OWN_FOLDER)) continue;
      throw this.#refused('name_duplicate', `is in a second ${OWN_FOLDER}, in addition to ${layout.ownRoot}`, entry);
    }
    const files = this.#files - this.#byProducts.files;
    const totalBytes = this.#totalBytes - this.#byProducts.bytes;
    return { format, archiveBytes, entries, files, totalBytes, caseConflicts: this.#caseConflicts, ...layout };
  }

  #place(entry: ArchiveEntry): number {
    const nodes = this.#nodes;
    const key = entry.name.normalize('NFC');
    const there = nodes.find(key);
    if (there >= 0 && nodes.kindOf(there) !== 'implied') throw this.#refused('name_duplicate', 'occurs twice', entry);
    if (there >= 0 && entry.kind === 'file')
      throw this.#refused('file_folder_conflict', 'is a file where another entry needs a folder', entry);
    const place = there >= 0 ? nodes.placeOf(there) : this.#keep(key);
    if (there < 0) this.#know(entry, key, place);
    nodes.setEntry(there >= 0 ? there : nodes.size - 1, entry.kind, this.#entries.length);

    for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1)) {
      const folder = key.slice(0, slash);
      const parent = nodes.find(folder);
      if (parent >= 0 && nodes.kindOf(parent) === 'file')
        throw this.#refused('file_folder_conflict', `needs a folder where "${folder}" is a file`, entry);
      if (parent >= 0) break;
      this.#know(entry, folder, place);
    }
    return key === entry.name ? place : this.#keep(entry.name);
  }

  #keep(name: string): number {
    this.#namesBytes += Buffer.byteLength(name);
    if (this.#namesBytes > NAMES_BYTES_MAX)
      throw this.#refuse('name_too_long', `its names have more than ${NAMES_BYTES_MAX} bytes together`);
    return this.#texts.add(name);
  }

  #know(entry: ArchiveEntry, name: string, place: number): void {
    const other = this.#nodes.add(name, place);
    if (other === null) return;
    if (this.#foldsCase)
      throw this.#refused('name_case_conflict', `differs from "${other}" only by case: "${name}"`, entry);
    if (this.#caseConflicts.length < NAMED_MAX && !isByProduct(name)) this.#caseConflicts.push([other, name]);
  }

  #refused(code: Parameters<Refuse>[0], state: string, entry: ArchiveEntry) {
    return this.#refuse(code, state, { entry: entry.name });
  }
}

export type ExtractedFile = { readonly path: string; readonly size: number; readonly sha256: string };

const DIGEST_BYTES = 32;

/** Digests of the files read so far, by index in the listing. */
export class ExtractedFiles implements Iterable<ExtractedFile> {
  length = 0;
  readonly #listing: ArchiveListing;
  readonly #digests: Buffer;
  readonly #isThere: Uint8Array;
  #indexes: number[] | null = null;

  constructor(listing: ArchiveListing) {
    this.#listing = listing;
    this.#digests = Buffer.alloc(DIGEST_BYTES * listing.entries.length);
    this.#isThere = new Uint8Array(listing.entries.length);
  }

  add(index: number, sha256: string): void {
    this.#digests.write(sha256, index * DIGEST_BYTES, 'hex');
    this.#isThere[index] = 1;
    this.length += 1;
    this.#indexes = null;
  }

  has(path: string): boolean {
    const index = this.#listing.entries.indexOf(nameAt({ place: 'site', path }, this.#listing));
    return index >= 0 && this.#isThere[index] === 1 && !path.startsWith(OWN_FOLDER);
  }

  indexes(): readonly number[] {
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

const manifestPath = ({ place, path }: Placement): string => (place === 'own' ? OWN_FOLDER + path : path);
