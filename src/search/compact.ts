import { hash } from 'node:crypto';

const WORDS = 4;
export const FINGERPRINT_BYTES = 4 * WORDS;
const ENTRIES_AT_FIRST = 1024;

export const fingerprint = (text: string): Uint8Array => hash('sha256', text, 'buffer').subarray(0, FINGERPRINT_BYTES);

/**
 * Assigns a number to each text by its fingerprint. Takes 24 to 48 bytes of memory per text, but a map of strings takes 130.
 * The hash table uses linear probing and is at most half full (Knuth, TAOCP 3, section 6.4, algorithm L).
 */
export class Fingerprints {
  #count = 0;
  #words: Uint32Array<ArrayBuffer>;
  /** Hash table. An element is 0 if free, else the number of a text plus one. */
  #places: Uint32Array;
  readonly #lookup = new Uint32Array(WORDS);

  /** @param expected approximate number of texts. If given, the table need not grow, which saves 20 ms for 50,000 texts */
  constructor(expected = 0) {
    const entries = 2 ** Math.ceil(Math.log2(Math.max(ENTRIES_AT_FIRST, expected)));
    this.#words = new Uint32Array(WORDS * entries);
    this.#places = new Uint32Array(2 * entries);
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): Uint8Array {
    return new Uint8Array(this.#words.buffer, 0, FINGERPRINT_BYTES * this.#count);
  }

  /** @param bytes array with a fingerprint or a SHA-256 digest at offset `at` */
  find(bytes: Uint8Array, at = 0): number | null {
    const taken = this.#places[this.#placeOf(this.#wordsAt(bytes, at))] ?? 0;
    return taken > 0 ? taken - 1 : null;
  }

  numberOf(text: string): number {
    return this.add(fingerprint(text));
  }

  add(bytes: Uint8Array, at = 0): number {
    const words = this.#wordsAt(bytes, at);
    let place = this.#placeOf(words);
    const taken = this.#places[place] ?? 0;
    if (taken > 0) return taken - 1;
    if (WORDS * this.#count === this.#words.length) {
      this.#grow();
      place = this.#placeOf(words);
    }
    const number = this.#count;
    this.#words.set(words, WORDS * number);
    this.#places[place] = number + 1;
    this.#count += 1;
    return number;
  }

  #wordsAt(bytes: Uint8Array, at: number): Uint32Array {
    for (let word = 0; word < WORDS; word += 1) this.#lookup[word] = wordAt(bytes, at + 4 * word);
    return this.#lookup;
  }

  #placeOf(words: Uint32Array): number {
    const mask = this.#places.length - 1;
    let place = (words[0] ?? 0) & mask;
    for (let taken = this.#places[place] ?? 0; taken > 0 && !this.#isAt(words, taken - 1); ) {
      place = (place + 1) & mask;
      taken = this.#places[place] ?? 0;
    }
    return place;
  }

  #isAt(words: Uint32Array, number: number): boolean {
    const at = WORDS * number;
    for (let word = 0; word < WORDS; word += 1) if (this.#words[at + word] !== words[word]) return false;
    return true;
  }

  #grow(): void {
    const words = new Uint32Array(this.#words.buffer.transfer(2 * this.#words.byteLength));
    this.#words = words;
    this.#places = new Uint32Array(2 * this.#places.length);
    const mask = this.#places.length - 1;
    for (let number = 0; number < this.#count; number += 1) {
      let place = (words[WORDS * number] ?? 0) & mask;
      while (this.#places[place] !== 0) place = (place + 1) & mask;
      this.#places[place] = number + 1;
    }
  }
}

/** Allocates separate memory: posting a slice of Node's buffer pool to a thread would copy the whole pool. */
export function joined(fingerprints: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(FINGERPRINT_BYTES * fingerprints.length);
  for (const [at, fingerprint] of fingerprints.entries()) bytes.set(fingerprint, FINGERPRINT_BYTES * at);
  return bytes;
}

function wordAt(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24);
}

export function bitCount(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555);
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333);
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

const AT_FIRST = 1024;

export class GrowableUint32Array {
  #numbers = new Uint32Array(AT_FIRST);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length)
      this.#numbers = new Uint32Array(this.#numbers.buffer.transfer(2 * this.#numbers.byteLength));
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }

  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  /** Numbers pushed so far, without a copy. Valid only until the next `push`. */
  get view(): Uint32Array<ArrayBuffer> {
    return this.#numbers.subarray(0, this.#length);
  }
}
