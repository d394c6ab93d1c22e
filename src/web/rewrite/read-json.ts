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

const ADDRESS = /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i;

/** An import map (HTML standard, 8.1.6.2): addresses, keys that are addresses, folders of keys and scopes, digests. */
export function readImportMap(region: Region, list: ReferenceList): void {
  for (const { path, isKey, start, end, value } of jsonStrings(region)) {
    const [section, ...rest] = path;
    const add = (kind: FoundKind) => list.add(kind, region, start, end, value, region.writing | SPECIFIER);
    const isMapped = rest.length === (section === 'imports' ? 1 : section === 'scopes' ? 2 : -1);
    if (isMapped && ADDRESS.test(value)) add(value.endsWith('/') ? 'prefix' : 'module');
    else if (section === 'scopes' && rest.length === 1 && isKey) add('prefix');
    else if (section === 'integrity' && rest.length === 1 && isKey) add('module');
    else if (section === 'integrity' && rest.length === 1)
      list.push('integrity', region.source(start), region.source(end), String(rest[0]), region.writing | LITERAL);
  }
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
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

const DEPTH_MAX = 64;

function jsonStrings({ text }: Region): JsonString[] {
  const start = text.startsWith('\u00ef\u00bb\u00bf') ? 3 : text.startsWith('\ufeff') ? 1 : 0;
  if (!isJson(text.slice(start))) return [];
  const strings: JsonString[] = [];
  const path: (string | number)[] = [];
  const awaitsKey: boolean[] = [];
  for (let at = start; at < text.length && path.length <= DEPTH_MAX; at++) {
    const character = text[at];
    const last = path.length - 1;
    if (character === '{' || character === '[') {
      path.push(character === '{' ? '' : 0);
      awaitsKey.push(character === '{');
    } else if (character === '}' || character === ']') {
      path.pop();
      awaitsKey.pop();
    } else if (character === ',') {
      const step = path[last];
      if (typeof step === 'number') path[last] = step + 1;
      else awaitsKey[last] = true;
    } else if (character === '"') {
      const end = endOfString(text, at + 1);
      const value = String(JSON.parse(text.slice(at, end + 1)));
      const isKey = awaitsKey[last] === true;
      if (isKey) {
        path[last] = value;
        awaitsKey[last] = false;
      }
      strings.push({ path: [...path], isKey, start: at + 1, end, value });
      at = end;
    }
  }
  return strings;
}

function endOfString(text: string, start: number): number {
  let at = start;
  while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
