/**
 * A stretch of a file's text with the layers around it undone (entities of an attribute, of a `srcdoc`), the place of each
 * unit in the file, and the needs of a replacement.
 */
export class Region {
  readonly text: string;
  /** The sum of the layers' needs (`write.ts`). */
  readonly writing: number;
  readonly #parent: Region | null;
  readonly #offset: number;
  /** Place in the parent's text of each unit and of the end; null: `#offset` further. */
  readonly #places: readonly number[] | null;

  constructor(
    text: string,
    writing = 0,
    parent: Region | null = null,
    offset = 0,
    places: readonly number[] | null = null,
  ) {
    this.text = text;
    this.writing = writing;
    this.#parent = parent;
    this.#offset = offset;
    this.#places = places;
  }

  /** A part of this one whose text stands there as it is. */
  slice(start: number, end: number, writing = this.writing): Region {
    return new Region(this.text.slice(start, end), writing, this, start);
  }

  /** A part of this one whose text had to be decoded. */
  decoded(text: string, places: readonly number[], writing = this.writing): Region {
    return new Region(text, writing, this, 0, places);
  }

  /** The place in the file, in units, of a place in this text. */
  source(at: number): number {
    const place = this.#places === null ? at + this.#offset : (this.#places[at] ?? 0);
    return this.#parent === null ? place : this.#parent.source(place);
  }
}
