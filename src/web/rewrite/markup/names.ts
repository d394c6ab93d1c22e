import { isUpper } from './characters.ts';

/** A prime, so that names of all lengths and letters spread. */
const RECENT = 61;

/**
 * The names of a text's tags and attributes, in lower case. Most are the same few, and each of those is one string, which is
 * looked up and compared without being read again.
 */
export class Names {
  readonly #text: string;
  /** The one that was read last, by first letter and length. */
  readonly #recent: string[] = Array<string>(RECENT).fill('');

  constructor(text: string) {
    this.#text = text;
  }

  at(start: number, end: number): string {
    const text = this.#text;
    const slot = (text.charCodeAt(start) + (end - start) * 7) % RECENT;
    const recent = this.#recent[slot] ?? '';
    if (recent.length === end - start && this.#isAt(start, recent)) return recent;
    const name = text.slice(start, end);
    for (let at = start; at < end; at++) if (isUpper(text.charCodeAt(at))) return name.toLowerCase();
    this.#recent[slot] = name;
    return name;
  }

  #isAt(start: number, name: string): boolean {
    const text = this.#text;
    for (let at = 0; at < name.length; at++) if (text.charCodeAt(start + at) !== name.charCodeAt(at)) return false;
    return true;
  }
}
