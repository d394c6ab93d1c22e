/** Distances of two pieces of text; the wider one wins. */
export const GAP = { none: 0, space: 1, line: 2, block: 3 } as const;
export type Gap = (typeof GAP)[keyof typeof GAP];

const SEPARATORS = ['', ' ', '\n', '\n\n'] as const;

/** Zero-width characters and soft hyphens would split a word in two for an index. */
const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;

/** Text as a browser lays it out: white space collapses, blank lines part blocks, new lines items and rows. */
export class TextWriter {
  readonly #lengthMax: number;
  #text = '';
  #gap: Gap = GAP.none;
  #isBound = false;
  #bullet = false;

  /** @param lengthMax UTF-16 code units; what comes after is left out */
  constructor(lengthMax: number) {
    this.#lengthMax = lengthMax;
  }

  get isEmpty(): boolean {
    return this.#text === '';
  }

  apart(gap: Gap): void {
    if (gap > this.#gap && !this.#isBound) this.#gap = gap;
  }

  /** The next block begins on the next line: a definition stays with its term. */
  bind(): void {
    this.#gap = GAP.line;
    this.#isBound = true;
  }

  item(): void {
    this.apart(GAP.line);
    this.#bullet = true;
  }

  endItem(): void {
    this.#bullet = false;
  }

  flow(text: string): boolean {
    const visible = text.replace(INVISIBLE, '');
    const collapsed = visible.replace(/\s+/g, ' ');
    if (collapsed === '') return false;
    if (collapsed.startsWith(' ')) this.apart(GAP.space);
    const trimmed = collapsed.trim();
    if (trimmed === '') return false;
    this.#write(trimmed);
    if (collapsed.endsWith(' ')) this.apart(GAP.space);
    return true;
  }

  /** Code: line breaks and indentation count. */
  verbatim(text: string): void {
    const code = text
      .replace(INVISIBLE, '')
      .replace(/\r\n?/g, '\n')
      .replace(/^(?:[ \t]*\n)+/, '')
      .trimEnd();
    if (code !== '') this.#write(code);
  }

  toString(): string {
    return this.#text;
  }

  #write(text: string): void {
    const lead = (this.#text === '' ? '' : SEPARATORS[this.#gap]) + (this.#bullet ? '- ' : '');
    this.#gap = GAP.none;
    this.#isBound = false;
    this.#bullet = false;
    const free = this.#lengthMax - this.#text.length;
    if (lead.length + text.length <= free) this.#text += lead + text;
    else if (free > lead.length)
      this.#text = (this.#text + lead + text).slice(0, this.#lengthMax).toWellFormed().trimEnd();
  }
}
