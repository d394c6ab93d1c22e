import type { Region } from './region.ts';

export interface JsonString {
  /** Keys and indexes that lead to it; those of a key end with the key itself. */
  readonly path: readonly (string | number)[];
  readonly isKey: boolean;
  /** Inside its quotes. */
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

/** Deeper JSON is not read: nothing that has addresses in it is. */
const DEPTH_MAX = 64;

/** Every string of a JSON text with its place, keys too; none where the text is no JSON. */
export function jsonStrings({ text }: Region): JsonString[] {
  const start = text.startsWith('\u00ef\u00bb\u00bf') ? 3 : text.startsWith('\ufeff') ? 1 : 0;
  return isJson(text.slice(start)) ? new JsonReading(text, start).run() : [];
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Walks a text that is known to be JSON. */
class JsonReading {
  readonly #text: string;
  #at: number;
  readonly #path: (string | number)[] = [];
  /** For each open bracket: whether an object's key comes next. */
  readonly #awaitsKey: boolean[] = [];
  readonly #strings: JsonString[] = [];

  constructor(text: string, start: number) {
    this.#text = text;
    this.#at = start;
  }

  run(): JsonString[] {
    for (; this.#at < this.#text.length && this.#path.length <= DEPTH_MAX; this.#at++) this.#onCharacter();
    return this.#strings;
  }

  #onCharacter(): void {
    const character = this.#text[this.#at];
    const last = this.#path.length - 1;
    if (character === '{') this.#open('', true);
    else if (character === '[') this.#open(0, false);
    else if (character === '}' || character === ']') {
      this.#path.pop();
      this.#awaitsKey.pop();
    } else if (character === ',') {
      const step = this.#path[last];
      if (typeof step === 'number') this.#path[last] = step + 1;
      else this.#awaitsKey[last] = true;
    } else if (character === '"') this.#onString(last);
  }

  #open(step: string | number, awaitsKey: boolean): void {
    this.#path.push(step);
    this.#awaitsKey.push(awaitsKey);
  }

  #onString(last: number): void {
    const start = this.#at + 1;
    for (this.#at = start; this.#text[this.#at] !== '"'; this.#at++) if (this.#text[this.#at] === '\\') this.#at++;
    const end = this.#at;
    const value = String(JSON.parse(this.#text.slice(start - 1, end + 1)));
    const isKey = this.#awaitsKey[last] === true;
    if (isKey) {
      this.#path[last] = value;
      this.#awaitsKey[last] = false;
    }
    this.#strings.push({ path: [...this.#path], isKey, start, end, value });
  }
}
