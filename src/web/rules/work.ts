/**
 * Units that the rules of a site may cost one request, of 2 ns (idle) to 5 ns (busy machine): half a millisecond, whatever
 * a bundle brings. A request to a site with ten thousand usual rules costs some 2,000.
 */
export const REQUEST_UNITS = 100_000;

/** Work that one request may cause. Counted instead of timed, so that equal requests get equal responses. */
export class Work {
  #left: number;
  readonly #given: number;

  constructor(units = REQUEST_UNITS) {
    this.#given = units;
    this.#left = units;
  }

  /** @returns false if the work is used up */
  spend(units: number): boolean {
    this.#left -= units;
    return this.#left >= 0;
  }

  get isSpent(): boolean {
    return this.#left < 0;
  }

  get spent(): number {
    return this.#given - this.#left;
  }
}

/** Characters of a path or a header value that is built from a rule. Clients and proxies accept 8 KiB for a line. */
export const BUILT_CHARS_MAX = 8192;

/** Builds a path or a header value piece by piece, and stops at 8 KiB. */
export class BoundedText {
  #text = '';
  #isCut = false;

  /** Characters that still fit. */
  get room(): number {
    return BUILT_CHARS_MAX - this.#text.length;
  }

  get endsWithSlash(): boolean {
    return this.#text.endsWith('/');
  }

  /** @returns false if the piece does not fit: the text is lost, and costs no more work */
  add(piece: string): boolean {
    if (this.#isCut || piece.length > this.room) this.#isCut = true;
    else this.#text += piece;
    return !this.#isCut;
  }

  /** Null if a piece did not fit. */
  get text(): string | null {
    return this.#isCut ? null : this.#text;
  }
}
