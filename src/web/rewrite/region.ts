/** Text with the layers around it undone (an attribute's entities, a `srcdoc`'s), and each unit's place in the file. */
export class Region {
  readonly text: string;
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

  slice(start: number, end: number, writing = this.writing): Region {
    return new Region(this.text.slice(start, end), writing, this, start);
  }

  decoded(text: string, places: readonly number[], writing = this.writing): Region {
    return new Region(text, writing, this, 0, places);
  }

  source(at: number): number {
    const place = this.#places === null ? at + this.#offset : (this.#places[at] ?? 0);
    return this.#parent === null ? place : this.#parent.source(place);
  }
}
