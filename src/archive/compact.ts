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

/** Numbers by a hash: open addressing, at most half full. */
export class HashSlots {
  #slots = new Uint32Array(2 * 1024);
  #used = 0;

  /** The first number with this hash that `isIt` holds for; -1 where there is none. */
  find(hash: number, isIt: (number: number) => boolean): number {
    const slots = this.#slots;
    for (let at = placeIn(slots, hash); slots[at + 1] !== 0; at = (at + 2) & (slots.length - 1)) {
      const number = (slots[at + 1] as number) - 1;
      if (slots[at] === hash && isIt(number)) return number;
    }
    return -1;
  }

  add(hash: number, number: number): void {
    this.#used += 1;
    if (this.#used * 4 > this.#slots.length) {
      const former = this.#slots;
      this.#slots = new Uint32Array(former.length * 2);
      for (let at = 0; at < former.length; at += 2) {
        if (former[at + 1] !== 0) put(this.#slots, former[at] as number, former[at + 1] as number);
      }
    }
    put(this.#slots, hash, number + 1);
  }
}

const placeIn = (slots: Uint32Array, hash: number): number => (hash * 2) & (slots.length - 1);

function put(slots: Uint32Array, hash: number, value: number): void {
  let at = placeIn(slots, hash);
  while (slots[at + 1] !== 0) at = (at + 2) & (slots.length - 1);
  slots[at] = hash;
  slots[at + 1] = value;
}

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

type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** The array, or a copy of twice its length where `count` numbers would not fit. */
export function roomFor<Kind extends Numbers>(numbers: Kind, count: number): Kind {
  if (count <= numbers.length) return numbers;
  const more = new (numbers.constructor as new (length: number) => Kind)(Math.max(count, numbers.length * 2));
  more.set(numbers);
  return more;
}
