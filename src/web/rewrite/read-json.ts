import { type JsonString, jsonStrings } from './json-strings.ts';
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
