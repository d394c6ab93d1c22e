import type { ArchiveLimits } from '../domain/limits.ts';
import { OWN_FOLDER } from '../domain/release.ts';
import { type Layout, layoutOf, type NamedEntry, placeOf } from './layout.ts';
import type { Refuse } from './rules.ts';

export type ArchiveFormat = 'tar' | 'tar.gz' | 'tar.zst' | 'zip';

export interface ArchiveEntry extends NamedEntry {
  /** Bytes unpacked, as the archive declares them; 0 for a folder. */
  readonly size: number;
}

/** The entries of an archive and its layout. Plain data: it crosses a thread. */
export interface ArchiveListing extends Layout {
  readonly format: ArchiveFormat;
  readonly archiveBytes: number;
  readonly entries: readonly ArchiveEntry[];
  /** Files and their bytes in the whole archive, launchers and docshelf's own folder included. */
  readonly files: number;
  readonly totalBytes: number;
  /** Names, folders too, that differ only by case; where the data folder folds case they are refused instead. */
  readonly caseConflicts: readonly (readonly [string, string])[];
}

/** UTF-8 bytes of all names, held in memory. 1,000,000 files under 100 bytes, each in a folder of its own, need 200 MB. */
const NAMES_BYTES_MAX = 256 * 1024 ** 2;

export interface ExtractedFile {
  readonly path: string;
  readonly size: number;
  readonly sha256: string;
}

/** Holds the rules that concern several entries: names twice, files where folders are needed, case, sums. */
export class ListingBuilder {
  readonly #refuse: Refuse;
  readonly #limits: ArchiveLimits;
  readonly #foldsCase: boolean;
  readonly #entries: ArchiveEntry[] = [];
  /** Nodes by name in NFC; `implied` is a folder that only names below it tell of. */
  readonly #nodes = new Map<string, 'file' | 'folder' | 'implied'>();
  readonly #byFoldedName = new Map<string, string>();
  readonly #caseConflicts: (readonly [string, string])[] = [];
  #files = 0;
  #totalBytes = 0;
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
    this.#place(entry);
    this.#entries.push(entry);
    this.#totalBytes += entry.size;
    if (entry.kind === 'file') this.#files += 1;
    if (Math.max(this.#files, this.#nodes.size - this.#files) > entriesMax) {
      throw this.#refuse('too_many_entries', `it has more than ${entriesMax} files, or as many folders`);
    }
    if (this.#totalBytes > totalBytesMax) {
      throw this.#refuse('total_too_large', `its files have more than ${totalBytesMax} bytes together`);
    }
  }

  finish(format: ArchiveFormat, archiveBytes: number): ArchiveListing {
    const entries = this.#entries;
    const layout = layoutOf(entries);
    const second = entries.find((entry) => {
      const placed = placeOf(entry, layout);
      return placed?.place === 'site' && placed.path.startsWith(OWN_FOLDER);
    });
    if (second) throw this.#refused('name_duplicate', `is in a second ${OWN_FOLDER}, beside ${layout.ownRoot}`, second);
    const sums = { files: this.#files, totalBytes: this.#totalBytes, caseConflicts: this.#caseConflicts };
    return { format, archiveBytes, entries, ...sums, ...layout };
  }

  #place(entry: ArchiveEntry): void {
    const key = entry.name.normalize('NFC');
    const there = this.#nodes.get(key);
    if (there === undefined) this.#know(entry, key);
    else if (there === 'implied' && entry.kind === 'file') {
      throw this.#refused('file_folder_conflict', 'is a file where another entry needs a folder', entry);
    } else if (there !== 'implied') throw this.#refused('name_duplicate', 'is there twice', entry);
    this.#nodes.set(key, entry.kind);

    for (let slash = key.lastIndexOf('/'); slash > 0; slash = key.lastIndexOf('/', slash - 1)) {
      const folder = key.slice(0, slash);
      const parent = this.#nodes.get(folder);
      if (parent === 'file') {
        throw this.#refused('file_folder_conflict', `needs a folder where "${folder}" is a file`, entry);
      }
      // A known folder's own parents are known too.
      if (parent !== undefined) return;
      this.#know(entry, folder);
      this.#nodes.set(folder, 'implied');
    }
  }

  #know(entry: ArchiveEntry, name: string): void {
    this.#namesBytes += Buffer.byteLength(name);
    if (this.#namesBytes > NAMES_BYTES_MAX) {
      throw this.#refuse('name_too_long', `its names have more than ${NAMES_BYTES_MAX} bytes together`);
    }
    // Upper-casing first folds what lower-casing alone keeps apart (`ß` and `ss`), as ext4 and APFS do when they fold.
    const folded = name.toUpperCase().toLowerCase().normalize('NFC');
    const other = this.#byFoldedName.get(folded);
    if (other === undefined) this.#byFoldedName.set(folded, name);
    else if (!this.#foldsCase) this.#caseConflicts.push([other, name]);
    else throw this.#refused('name_case_conflict', `differs from "${other}" only by case: "${name}"`, entry);
  }

  #refused(code: Parameters<Refuse>[0], state: string, entry: ArchiveEntry) {
    return this.#refuse(code, state, { entry: entry.name });
  }
}
