import { randomBytes } from 'node:crypto';
import { HashSlots, roomFor, saltedHash } from '../files/flat-tables.ts';
import type { ArchiveEntry } from './layout.ts';

/** This module stores up to a million names of archive entries as numbers and bytes outside of the JavaScript heap. */

const BLOCK_BYTES = 1024 ** 2;

/** Texts in UTF-8, stored one after another. Position and length in bytes identify a text. */
export class Texts {
  readonly #blocks: Buffer[] = [Buffer.allocUnsafeSlow(BLOCK_BYTES)];
  #usedOfLast = 0;

  add(text: string): number {
    const bytes = Buffer.byteLength(text);
    if (this.#usedOfLast + bytes >= BLOCK_BYTES) {
      this.#blocks.push(Buffer.allocUnsafeSlow(BLOCK_BYTES));
      this.#usedOfLast = 0;
    }
    const block = this.#blocks.length - 1;
    const at = this.#usedOfLast;
    this.#blocks[block]?.write(text, at);
    this.#usedOfLast += bytes;
    return block * BLOCK_BYTES + at;
  }

  read(place: number, bytes: number): string {
    const at = place % BLOCK_BYTES;
    return this.#blocks[Math.floor(place / BLOCK_BYTES)]?.toString('utf8', at, at + bytes) ?? '';
  }
}

/** An `implied` folder is part of the path of other entries, but has no entry of its own in the archive. */
type NodeKind = 'file' | 'folder' | 'implied';

const KINDS: readonly NodeKind[] = ['file', 'folder', 'implied'];
const START_LENGTH = 1024;

export class EntryTable implements Iterable<ArchiveEntry> {
  readonly #texts: Texts;
  readonly #names: NameTable;
  #places = new Uint32Array(START_LENGTH);
  #nameBytes = new Uint32Array(START_LENGTH);
  #sizes = new Float64Array(START_LENGTH);
  #kinds = new Uint8Array(START_LENGTH);
  #length = 0;

  constructor(texts: Texts, names: NameTable) {
    this.#texts = texts;
    this.#names = names;
  }

  get length(): number {
    return this.#length;
  }

  add(place: number, nameBytes: number, kind: 'file' | 'folder', size: number): void {
    const index = this.#length;
    this.#length += 1;
    this.#places = roomFor(this.#places, this.#length);
    this.#nameBytes = roomFor(this.#nameBytes, this.#length);
    this.#sizes = roomFor(this.#sizes, this.#length);
    this.#kinds = roomFor(this.#kinds, this.#length);
    this.#places[index] = place;
    this.#nameBytes[index] = nameBytes;
    this.#sizes[index] = size;
    this.#kinds[index] = KINDS.indexOf(kind);
  }

  at(index: number): ArchiveEntry {
    const kind = this.isFile(index) ? 'file' : 'folder';
    return { name: this.#nameOf(index), kind, size: this.#sizes[index] as number };
  }

  indexOf(name: string): number {
    const node = this.#names.find(name.normalize('NFC'));
    const index = node < 0 ? -1 : this.#names.entryOf(node);
    return index >= 0 && this.at(index).name === name ? index : -1;
  }

  isFile(index: number): boolean {
    return this.#kinds[index] === 0;
  }

  *[Symbol.iterator](): Generator<ArchiveEntry> {
    for (let index = 0; index < this.#length; index++) yield this.at(index);
  }

  filesByName(): number[] {
    const files = Array.from({ length: this.#length }, (_, index) => index).filter((index) => this.isFile(index));
    return files.sort((a, b) => (this.#nameOf(a) < this.#nameOf(b) ? -1 : 1));
  }

  #nameOf(index: number): string {
    return this.#texts.read(this.#places[index] as number, this.#nameBytes[index] as number);
  }
}

/** Stores entry names in NFC with their kinds. Finds exact names, and detects names that differ only by case. */
export class NameTable {
  readonly #texts: Texts;
  readonly #salt = randomBytes(4).readUInt32LE();
  readonly #byName = new HashSlots();
  readonly #byFolded = new HashSlots();
  #places = new Uint32Array(START_LENGTH);
  #bytes = new Uint32Array(START_LENGTH);
  #kinds = new Uint8Array(START_LENGTH);
  #entries = new Uint32Array(START_LENGTH);
  #size = 0;

  constructor(texts: Texts) {
    this.#texts = texts;
  }

  get size(): number {
    return this.#size;
  }

  find(name: string): number {
    return this.#byName.find(saltedHash(this.#salt, name), (node) => this.nameOf(node) === name);
  }

  kindOf(node: number): NodeKind {
    return KINDS[this.#kinds[node] as number] as NodeKind;
  }

  entryOf(node: number): number {
    return (this.#entries[node] as number) - 1;
  }

  setEntry(node: number, kind: NodeKind, entry: number): void {
    this.#kinds[node] = KINDS.indexOf(kind);
    this.#entries[node] = entry + 1;
  }

  placeOf(node: number): number {
    return this.#places[node] as number;
  }

  nameOf(node: number): string {
    return this.#texts.read(this.#places[node] as number, this.#bytes[node] as number);
  }

  /**
   * Adds a folder that is part of the path of other entries, but has no entry of its own in the archive.
   * @param name entry name that is not in the table
   * @returns a stored name that differs from `name` only by case, or null if there is none
   */
  add(name: string, place: number): string | null {
    const node = this.#size;
    this.#size += 1;
    this.#places = roomFor(this.#places, this.#size);
    this.#bytes = roomFor(this.#bytes, this.#size);
    this.#kinds = roomFor(this.#kinds, this.#size);
    this.#entries = roomFor(this.#entries, this.#size);
    this.#places[node] = place;
    this.#bytes[node] = Buffer.byteLength(name);
    this.setEntry(node, 'implied', -1);
    this.#byName.add(saltedHash(this.#salt, name), node);

    const folded = foldCase(name);
    const hash = saltedHash(this.#salt, folded);
    const other = this.#byFolded.find(hash, (known) => foldCase(this.nameOf(known)) === folded);
    if (other >= 0) return this.nameOf(other);
    this.#byFolded.add(hash, node);
    return null;
  }
}

/**
 * Converts a name to upper case and then to lower case, because only this makes `ß` equal to `ss`, as in ext4 and APFS file
 * systems that ignore case.
 */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase().normalize('NFC');
