import type { Section } from '../section.ts';

/** Of a heading's markup: as many bytes of a page part two sections at least. */
const MARKUP = 4;

/** A page's own heading may be its title, a heading, and the text of a section without another. A single byte is no more than one character. */
export function saidCharactersMax(pageBytes: number): number {
  return 3 * pageBytes + 64 * 1024;
}

/**
 * Characters, in UTF-16 code units, that a section says and the one before it does not. Pages say each of them, so their size bounds
 * the sum, and with it how many terms, titles, tags and sections there can be; what sections of a page repeat costs little.
 */
export class SaidCharacters {
  #before: Section | null = null;
  #sum = 0;

  /** @returns the sum of all sections so far */
  add(section: Section): number {
    const before = this.#before;
    const { title, documentTitle = '', headings, text, language, version, tags } = section;
    const sameHeadings = headings.findIndex((heading, at) => heading !== before?.headings[at]);
    const said = [
      ...(sameHeadings === -1 ? [] : headings.slice(sameHeadings)),
      ...(tags.join('\n') === before?.tags.join('\n') ? [] : tags),
      ...(title === before?.title ? [] : [title]),
      ...(language === before?.language ? [] : [language ?? '']),
      ...(version === before?.version ? [] : [version ?? '']),
      documentTitle,
      text,
    ];
    this.#sum += said.reduce((sum, { length }) => sum + length, MARKUP);
    this.#before = section;
    return this.#sum;
  }
}
