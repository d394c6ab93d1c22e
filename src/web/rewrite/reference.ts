import { decodeUnits, detachString } from './source-text.ts';

/**
 * Ways in which a file uses an address:
 *
 * - Readers follow a `link`. A `frame` shows a document. Scripts load a `lazy` address, often from a `data-` attribute.
 * - `module` is a specifier (`resolveSpecifier`). A script's `worker` address is relative to the page, not to the script.
 * - `prefix` is a folder of an import map, `base` the base of relative addresses, `canonical` the page's own address.
 * - `hint` is a host to connect to in advance, or the address of a ping. An empty text disables the hint.
 * - `integrity` is the digest of another file. Its `url` is the address of this file.
 * - `mention` is an address that the crawl requests, but never rewrites.
 * - `mounted` is an address that only another base path changes, such as the target of a form, which is useless offline.
 * - `scope` is the common start of many addresses. `pattern` is a URL pattern in a string of JSON or a script.
 */
export type FoundKind =
  | 'link'
  | 'frame'
  | 'script'
  | 'style'
  | 'manifest'
  | 'asset'
  | 'lazy'
  | 'module'
  | 'worker'
  | 'prefix'
  | 'canonical'
  | 'base'
  | 'hint'
  | 'integrity'
  | 'mention'
  | 'mounted'
  | 'scope'
  | 'pattern';

export interface FoundReference {
  readonly kind: FoundKind;
  /** Address without surrounding white space. Entities and escapes are decoded, but the address is not resolved. */
  readonly url: string;
  readonly start: number;
  readonly end: number;
  /** Flags of `write.ts` that define how a new address must be escaped at this position. */
  readonly writing: number;
}

export interface FoundReferences {
  readonly references: readonly FoundReference[];
  readonly base: string | null;
  readonly importMaps: readonly string[];
  readonly robots: readonly string[];
  readonly payloads: readonly string[];
}

const NO_FILE = /^(?:data|javascript|mailto|tel|sms|blob|about|filesystem|urn|chrome|vbscript):/i;

export class ReferenceList {
  readonly references: FoundReference[] = [];
  readonly filePath: string | null;
  /** Addresses found so far. Each is a copy, so that it does not keep the text of the whole file in memory. */
  readonly #urls = new Map<string, string>();

  constructor(filePath: string | null) {
    this.filePath = filePath;
  }

  /**
   * Adds an address at the position from `start` to `end` in the region's text.
   * @param units decoded address, with one UTF-16 code unit per byte
   */
  add(kind: FoundKind, region: Region, start: number, end: number, units: string, writing = region.writing): void {
    const [from, to] = trimmed(region.text, start, end);
    const url = decodeUnits(units.slice(...trimmed(units, 0, units.length)));
    if (url === '' || NO_FILE.test(url)) return;
    // Add a bare fragment such as `#a` only as a link. Elsewhere, for example in an SVG `use`, it loads no file.
    if (url.startsWith('#') && kind !== 'link') return;
    this.push(kind, region.source(from), region.source(to), url, writing);
    // VitePress loads the script of the first page as `x.lean.js`, without static parts, and scripts of later pages as `x.js`.
    // Add both files.
    if (url.endsWith('.lean.js') && url.includes('.md.')) this.mention(url.replace(/\.lean\.js$/, '.js'));
  }

  mention(url: string): void {
    if (!this.#urls.has(url)) this.push('mention', 0, 0, url, 0);
  }

  push(kind: FoundKind, start: number, end: number, url: string, writing: number): void {
    const own = this.#urls.get(url) ?? detachString(url);
    this.#urls.set(own, own);
    this.references.push({ kind, url: own, start, end, writing });
  }
}

function trimmed(text: string, start: number, end: number): [from: number, to: number] {
  let [from, to] = [start, end];
  while (from < to && text.charCodeAt(from) <= 0x20) from++;
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to--;
  return [from, to];
}

/** Decoded text of a section of a file, such as an attribute. `source` converts a position in this text to one in the file. */
export class Region {
  readonly text: string;
  readonly writing: number;
  readonly #parent: Region | null;
  readonly #offset: number;
  readonly #places: readonly number[] | null;

  constructor(
    text: string,
    writing = 0,
    parent: Region | null = null,
    offset = 0,
    places: readonly number[] | null = null,
  ) {
    this.text = text;
    this.writing = writing;
    this.#parent = parent;
    this.#offset = offset;
    this.#places = places;
  }

  slice(start: number, end: number, writing = this.writing): Region {
    return new Region(this.text.slice(start, end), writing, this, start);
  }

  decoded(text: string, places: readonly number[], writing = this.writing): Region {
    return new Region(text, writing, this, 0, places);
  }

  source(at: number): number {
    const place = this.#places === null ? at + this.#offset : (this.#places[at] ?? 0);
    return this.#parent === null ? place : this.#parent.source(place);
  }
}
