import { Numbers } from '../numbers.ts';
import type { Passage } from '../section.ts';

/** Language and passages of each section, in memory while an index is open. */
export class SectionFacts {
  readonly count: number;
  readonly #languages: readonly (string | null)[];
  readonly #languageOf: Uint32Array;
  /** First passage of each section, and the number of passages at the end. */
  readonly #firsts: Uint32Array;
  readonly #borders: Uint32Array;

  /** @param array reads an array of the index file @throws what `array` throws */
  constructor(array: (name: string) => Uint8Array<ArrayBuffer>) {
    this.#languages = JSON.parse(Buffer.from(array('languages')).toString()) as (string | null)[];
    this.#languageOf = new Uint32Array(array('language numbers').buffer);
    this.#firsts = new Uint32Array(array('first passages').buffer);
    this.#borders = new Uint32Array(array('passage borders').buffer);
    this.count = this.#languageOf.length;
  }

  get bytes(): number {
    return this.#languageOf.byteLength + this.#firsts.byteLength + this.#borders.byteLength;
  }

  language(section: number): string | null {
    return this.#languages[this.#languageOf[section] ?? 0] ?? null;
  }

  passages(section: number): Passage[] {
    const passages: Passage[] = [];
    for (let at = this.#firsts[section] ?? 0; at < (this.#firsts[section + 1] ?? 0); at += 1)
      passages.push({ start: this.#borders[2 * at] ?? 0, end: this.#borders[2 * at + 1] ?? 0 });
    return passages;
  }
}

/** Collects the facts of sections in the order of their numbers. */
export class SectionFactsBuilder {
  readonly #numberOf = new Map<string | null, number>();
  readonly #languageOf = new Numbers();
  readonly #firsts = new Numbers();
  readonly #borders = new Numbers();

  add(language: string | null, passages: readonly Passage[]): void {
    const number = this.#numberOf.get(language) ?? this.#numberOf.size;
    this.#numberOf.set(language, number);
    this.#languageOf.push(number);
    this.#firsts.push(this.#borders.length / 2);
    for (const { start, end } of passages) {
      this.#borders.push(start);
      this.#borders.push(end);
    }
  }

  /** Arrays of the index file, by name. */
  arrays(): readonly (readonly [name: string, bytes: Uint8Array])[] {
    this.#firsts.push(this.#borders.length / 2);
    const bytesOf = ({ view }: Numbers): Uint8Array => new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
    return [
      ['languages', Buffer.from(JSON.stringify([...this.#numberOf.keys()]))],
      ['language numbers', bytesOf(this.#languageOf)],
      ['first passages', bytesOf(this.#firsts)],
      ['passage borders', bytesOf(this.#borders)],
    ];
  }
}
