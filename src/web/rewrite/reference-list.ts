import { type FoundKind, REFERENCE_KINDS } from './reference.ts';
import type { Region } from './region.ts';
import { decodeUrl, isUtf16 } from './source-text.ts';

const KIND_INDEX: ReadonlyMap<FoundKind, number> = new Map(REFERENCE_KINDS.map((kind, index) => [kind, index]));

const NO_FILE = /^(?:data|javascript|mailto|tel|sms|blob|about|filesystem|urn|chrome|vbscript):/i;

export class ReferenceList {
  readonly urls: string[] = [];
  readonly spans: number[] = [];
  readonly charset: string;
  readonly filePath: string | null;
  readonly #indexes = new Map<string, number>();
  readonly #bytesPerUnit: number;

  constructor(charset: string, filePath: string | null) {
    this.charset = charset;
    this.filePath = filePath;
    this.#bytesPerUnit = isUtf16(charset) ? 2 : 1;
  }

  /** @param units decoded as far as the region's own syntax goes @param start place in the region's text */
  add(kind: FoundKind, region: Region, start: number, end: number, units: string, writing = region.writing): void {
    const [from, to] = trimmed(region.text, start, end);
    const url = decodeUrl(units.slice(...trimmed(units, 0, units.length)), this.charset);
    if (url === '' || NO_FILE.test(url)) return;
    // Only a reader's link leads to a fragment of the page itself.
    if (url.startsWith('#') && kind !== 'link') return;
    this.push(kind, region.source(from), region.source(to), url, writing);
    // VitePress: the first page comes without its static parts, and goes by `x.lean.js`; the pages after it by `x.js`.
    if (url.endsWith('.lean.js') && url.includes('.md.')) this.mention(url.replace(/\.lean\.js$/, '.js'));
  }

  mention(url: string): void {
    if (!this.#indexes.has(url)) this.push('mention', 0, 0, url, 0);
  }

  /** Takes in any reference. Places are units of the file. */
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

/** The part of a text without the C0 controls and spaces at its ends, as the URL standard removes them. */
function trimmed(text: string, start: number, end: number): [from: number, to: number] {
  let [from, to] = [start, end];
  while (from < to && text.charCodeAt(from) <= 0x20) from++;
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to--;
  return [from, to];
}
