import type { FoundKind } from './reference.ts';
import type { ReferenceList } from './reference-list.ts';
import type { Region } from './region.ts';
import { LITERAL, SPECIFIER } from './write.ts';

/** Members of a web app manifest that are addresses; indexes are left out of the path. `scope` and `id` are names. */
const MANIFEST_MEMBERS: Readonly<Record<string, FoundKind>> = {
  start_url: 'link',
  'icons.src': 'asset',
  'screenshots.src': 'asset',
  'shortcuts.url': 'link',
  'shortcuts.icons.src': 'asset',
  'serviceworker.src': 'script',
};

export function readManifest(region: Region, list: ReferenceList): void {
  for (const { path, isKey, start, end, value } of jsonStrings(region)) {
    const kind = isKey ? undefined : MANIFEST_MEMBERS[path.filter((step) => typeof step === 'string').join('.')];
    if (kind !== undefined) list.add(kind, region, start, end, value);
  }
}

/**
 * An import map (HTML standard, 8.1.6.2): the addresses, the keys that are addresses themselves, the folders that keys and scopes
 * name, and the digests.
 */
export function readImportMap(region: Region, list: ReferenceList): void {
  for (const entry of jsonStrings(region)) {
    const [section, ...rest] = entry.path;
    if (section === 'integrity' && rest.length === 1) addDigest(entry, region, list);
    else if (section === 'imports' && rest.length === 1) addMapped(entry, region, list);
    else if (section === 'scopes' && rest.length === 2) addMapped(entry, region, list);
    else if (section === 'scopes' && rest.length === 1 && entry.isKey) addAddress(entry, 'prefix', region, list);
  }
}

function addMapped(entry: JsonString, region: Region, list: ReferenceList): void {
  // A key that is no address is a bare name; an address that is none counts for nothing.
  if (isAddress(entry.value)) addAddress(entry, entry.value.endsWith('/') ? 'prefix' : 'module', region, list);
}

function addDigest(entry: JsonString, region: Region, list: ReferenceList): void {
  const url = String(entry.path.at(-1));
  if (entry.isKey) addAddress(entry, 'module', region, list);
  else list.push('integrity', region.source(entry.start), region.source(entry.end), url, region.writing | LITERAL);
}

function addAddress(entry: JsonString, kind: FoundKind, region: Region, list: ReferenceList): void {
  list.add(kind, region, entry.start, entry.end, entry.value, region.writing | SPECIFIER);
}

function isAddress(specifier: string): boolean {
  return /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i.test(specifier);
}

/** The pages that speculation rules list. Rules that match the links of the page name none. */
export function readSpeculationRules(region: Region, list: ReferenceList): void {
  for (const { path, isKey, start, end, value } of jsonStrings(region)) {
    const [action, , member] = path;
    if (!isKey && member === 'urls' && (action === 'prefetch' || action === 'prerender'))
      list.add('link', region, start, end, value);
  }
}

interface JsonString {
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
function jsonStrings({ text }: Region): JsonString[] {
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
