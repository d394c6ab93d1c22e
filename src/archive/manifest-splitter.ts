/** Splits a stream of manifest bytes: a million files need the memory of one. */

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const ESCAPE = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const FILES_KEY = Buffer.from('"files":');

interface ManifestParts {
  readonly onFile: (bytes: Buffer) => void;
  readonly onFault: (state: string) => Error;
  readonly headBytesMax: number;
  readonly fileBytesMax: number;
}

/** `head` is the text outside the list of files. `first`, `next` and `behind` are positions between two files. */
type State = 'head' | 'first' | 'next' | 'behind' | 'file';

export class ManifestSplitter {
  readonly #parts: ManifestParts;
  readonly #head: Buffer;
  #headBytes = 0;
  #isBehindBlank = false;
  #held: Buffer[] = [];
  #heldBytes = 0;
  #state: State = 'head';
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasFiles = false;

  constructor(parts: ManifestParts) {
    this.#parts = parts;
    this.#head = Buffer.alloc(parts.headBytesMax);
  }

  push(chunk: Buffer): void {
    let begin = 0;
    for (let at = 0; at < chunk.length; at++) {
      const byte = chunk[at] as number;
      if (this.#state === 'head') this.#takeOfHead(byte);
      else if (this.#state !== 'file') {
        this.#takeBetween(byte);
        begin = at;
      } else if (this.#isEndOfFile(byte)) {
        this.#hold(chunk.subarray(begin, at + 1));
        this.#parts.onFile(Buffer.concat(this.#held));
        this.#held = [];
        this.#heldBytes = 0;
        this.#state = 'behind';
      }
    }
    if (this.#state === 'file') this.#hold(chunk.subarray(begin));
  }

  end(): Buffer {
    if (this.#state !== 'head') throw this.#parts.onFault('it is cut off');
    return this.#head.subarray(0, this.#headBytes);
  }

  #takeOfHead(byte: number): void {
    if (!this.#isInString && isBlank(byte)) {
      this.#isBehindBlank = true;
      return;
    }
    // A blank separates two numbers: `1 2` must not become 12.
    const isParted = this.#isBehindBlank && isOfLiteral(byte) && isOfLiteral(this.#head[this.#headBytes - 1]);
    this.#isBehindBlank = false;
    if (isParted) throw this.#parts.onFault('it is not valid JSON');
    if (this.#headBytes === this.#head.length)
      throw this.#parts.onFault(`all but its files has more than ${this.#head.length} bytes`);
    const isFiles = byte === OPEN_LIST && !this.#isInString && this.#depth === 1 && this.#endsWithKey();
    this.#head[this.#headBytes] = byte;
    this.#headBytes += 1;
    if (!isFiles) {
      this.#follow(byte);
      return;
    }
    if (this.#hasFiles) throw this.#parts.onFault('it lists its files twice');
    this.#hasFiles = true;
    this.#state = 'first';
  }

  #endsWithKey(): boolean {
    const from = this.#headBytes - FILES_KEY.length;
    const before = this.#head[from - 1];
    return (
      (before === OPEN || before === COMMA) && this.#head.subarray(Math.max(0, from), this.#headBytes).equals(FILES_KEY)
    );
  }

  #takeBetween(byte: number): void {
    if (isBlank(byte)) return;
    const state = this.#state;
    if (byte === OPEN && state !== 'behind') {
      this.#state = 'file';
      this.#depth = 2;
    } else if (byte === COMMA && state === 'behind') this.#state = 'next';
    else if (byte === CLOSE_LIST && state !== 'next') {
      this.#state = 'head';
      this.#depth = 1;
      this.#takeOfHead(byte);
      this.#depth = 1;
    } else throw this.#parts.onFault('its files are not a list of objects');
  }

  #isEndOfFile(byte: number): boolean {
    this.#follow(byte);
    return this.#depth === 1;
  }

  #follow(byte: number): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (this.#isInString) {
      this.#isEscaped = byte === ESCAPE;
      this.#isInString = byte !== QUOTE;
    } else if (byte === QUOTE) this.#isInString = true;
    else if (byte === OPEN || byte === OPEN_LIST) this.#depth += 1;
    else if (byte === CLOSE || byte === CLOSE_LIST) this.#depth -= 1;
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > this.#parts.fileBytesMax)
      throw this.#parts.onFault(`what it says of a file has more than ${this.#parts.fileBytesMax} bytes`);
    this.#held.push(Buffer.from(part));
  }
}

const LITERAL = /[\w.+-]/;
const isOfLiteral = (byte = 0): boolean => LITERAL.test(String.fromCharCode(byte));

const isBlank = (byte: number): boolean => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
