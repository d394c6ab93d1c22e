import { type FoundKind, REFERENCE_KINDS } from './reference.ts';
import type { Region } from './region.ts';
import { decodeUrl, isUtf16 } from './source-text.ts';

const KIND_INDEX: ReadonlyMap<FoundKind, number> = new Map(REFERENCE_KINDS.map((kind, index) => [kind, index]));

/** Addresses that lead to no file: their text is all there is. */
const NO_FILE = /^(?:data|javascript|mailto|tel|sms|blob|about|filesystem|urn|chrome|vbscript):/i;
const TRIMMED = 0x20;

/** Gathers what the readers find. */
export class ReferenceList {
  /** Parts of the file's text: see `ownStrings`. */
  readonly urls: string[] = [];
  readonly spans: number[] = [];
  readonly charset: string;
  /** The path that the file is answered at, where it is known. */
  readonly filePath: string | null;
  readonly #indexes = new Map<string, number>();
  readonly #bytesPerUnit: number;

  constructor(charset: string, filePath: string | null) {
    this.charset = charset;
    this.filePath = filePath;
    this.#bytesPerUnit = isUtf16(charset) ? 2 : 1;
  }

  /**
   * Takes a reference in, unless it names no file.
   *
   * @param units the address, decoded as far as the region's own syntax goes; white space around it is not counted in.
   * @param start the place in the region's text where it is written, up to `end`.
   */
  add(kind: FoundKind, region: Region, start: number, end: number, units: string, writing = region.writing): void {
    const { text } = region;
    let from = start;
    let to = end;
    while (from < to && text.charCodeAt(from) <= TRIMMED) from++;
    while (to > from && text.charCodeAt(to - 1) <= TRIMMED) to--;
    const url = decodeUrl(trim(units), this.charset);
    if (url === '' || NO_FILE.test(url)) return;
    // A fragment of the page itself: to a reader a place to go to, to all others something within the file.
    if (url.startsWith('#') && kind !== 'link') return;
    this.push(kind, region.source(from), region.source(to), url, writing);
    const companion = companionOf(url);
    if (companion !== null) this.mention(companion);
  }

  mention(url: string): void {
    if (!this.#indexes.has(url)) this.push('mention', 0, 0, url, 0);
  }

  /** Takes in what is there whatever it says. Places are units of the file. */
  push(kind: FoundKind, start: number, end: number, url: string, writing: number): void {
    let index = this.#indexes.get(url);
    if (index === undefined) {
      index = this.urls.push(url) - 1;
      this.#indexes.set(url, index);
    }
    const bytes = this.#bytesPerUnit;
    this.spans.push(start * bytes, end * bytes, index, KIND_INDEX.get(kind) ?? 0, writing);
  }
}

/** Without the C0 controls and spaces around it, which is what the URL standard removes. */
function trim(units: string): string {
  let from = 0;
  let to = units.length;
  while (from < to && units.charCodeAt(from) <= TRIMMED) from++;
  while (to > from && units.charCodeAt(to - 1) <= TRIMMED) to--;
  return from === 0 && to === units.length ? units : units.slice(from, to);
}

/** VitePress: the first page comes without its static parts, and goes by `x.lean.js`; the pages after it by `x.js`. */
function companionOf(url: string): string | null {
  return url.endsWith('.lean.js') && url.includes('.md.') ? url.replace(/\.lean\.js$/, '.js') : null;
}
