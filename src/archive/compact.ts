/** What is held of each of a million names: numbers and bytes outside of the heap, no object of its own. */

/** Longer than any name; a name lies in one block. */
const BLOCK_BYTES = 1024 ** 2;

/** Texts one behind the other, in UTF-8; each is found by its place and its length in bytes. */
export class Texts {
  readonly #blocks: Buffer[] = [Buffer.allocUnsafeSlow(BLOCK_BYTES)];
  #usedOfLast = 0;

  /** @returns its place, which is also that of each text that it begins with */
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
    return this.#blockOf(place).toString('utf8', at, at + bytes);
  }

  /** As strings compare: by UTF-16 code units. */
  compare(place: number, bytes: number, otherPlace: number, otherBytes: number): number {
    const [block, other] = [this.#blockOf(place), this.#blockOf(otherPlace)];
    const [at, otherAt] = [place % BLOCK_BYTES, otherPlace % BLOCK_BYTES];
    const shorter = Math.min(bytes, otherBytes);
    for (let n = 0; n < shorter; n++) {
      const [a, b] = [block[at + n] as number, other[otherAt + n] as number];
      if (a !== b) return inUtf16(a) - inUtf16(b);
    }
    return bytes - otherBytes;
  }

  #blockOf(place: number): Buffer {
    return this.#blocks[Math.floor(place / BLOCK_BYTES)] as Buffer;
  }
}

/** UTF-8 sorts U+E000 to U+FFFF (0xEE, 0xEF) before what takes two code units (0xF0 and on), which begin with 0xD800. */
const inUtf16 = (byte: number): number => (byte === 0xee || byte === 0xef ? byte + 0x10 : byte);

/** A text for each of many numbers, of which few differ: at most 65,535. */
export class SharedTexts {
  readonly #texts: string[] = [];
  /** From 1, as in `#numbers`. */
  readonly #byText = new Map<string, number>();
  readonly #numbers: Uint16Array;

  constructor(count: number) {
    this.#numbers = new Uint16Array(count);
  }

  /** How many differ. */
  get size(): number {
    return this.#texts.length;
  }

  set(index: number, text: string): void {
    const number = this.#byText.get(text) ?? this.#texts.push(text);
    this.#byText.set(text, number);
    this.#numbers[index] = number;
  }

  at(index: number): string | undefined {
    return this.#texts[(this.#numbers[index] ?? 0) - 1];
  }
}
