import { jsonOf } from '../../domain/shape.ts';
import type { FoundKind, ReferenceList, Region } from './reference.ts';
import { decodeUnits, unitsOfText } from './source-text.ts';
import { LITERAL, SPECIFIER } from './write.ts';

/** Members of a web app manifest that contain addresses, by kind of address. The member paths omit array indexes. */
const MEMBERS_BY_KIND: Partial<Record<FoundKind, string>> = {
  link: 'start_url shortcuts.url',
  asset:
    'icons.src screenshots.src splash_screens.src shortcuts.icons.src file_handlers.icons.src tab_strip.home_tab.icons.src widgets.ms_ac_template widgets.data widgets.icons.src widgets.screenshots.src',
  script: 'serviceworker.src',
  scope:
    'id scope serviceworker.scope share_target.action protocol_handlers.url file_handlers.action note_taking.new_note_url lock_screen.start_url tab_strip.new_tab_button.url related_applications.url',
  pattern: 'tab_strip.home_tab.scope_patterns.pathname',
};
const MANIFEST_MEMBERS: ReadonlyMap<string, FoundKind> = new Map(
  Object.entries(MEMBERS_BY_KIND).flatMap(([kind, members]) =>
    members.split(' ').map((member) => [member, kind as FoundKind] as const),
  ),
);
/** Matches localized members of a manifest, such as `icons_localized.de.src`, which docshelf reads like `icons.src`. */
const LOCALIZED = /\b(icons|shortcuts|screenshots)_localized\.[^.]+/g;

export function readManifest(region: Region, list: ReferenceList): void {
  for (const { path, isKey, start, end, value } of jsonStrings(region)) {
    const name = isKey ? '' : path.filter((step) => typeof step === 'string').join('.');
    const kind = MANIFEST_MEMBERS.get(name.replace(LOCALIZED, '$1'));
    if (kind !== undefined) list.add(kind, region, start, end, value);
  }
}

const ADDRESS = /^(?:\.{0,2}\/|[a-z][a-z0-9+.-]*:)/i;

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

const OF_ORIGIN = new Set(['protocol', 'hostname', 'port', 'baseURL']);

export function readSpeculationRules(region: Region, list: ReferenceList): void {
  const strings = jsonStrings(region);
  const parentOf = ({ path }: JsonString): string => path.slice(0, -1).join('\n');
  const elsewhere = new Set(strings.filter(({ path }) => OF_ORIGIN.has(String(path.at(-1)))).map(parentOf));
  for (const string of strings) {
    const { path, isKey, start, end, value } = string;
    const [action, , member] = path;
    if (isKey || (action !== 'prefetch' && action !== 'prerender')) continue;
    if (member === 'urls') list.add('link', region, start, end, value);
    const at = path.lastIndexOf('href_matches');
    if (at === -1) continue;
    const names = path.slice(at + 1).filter((step) => typeof step === 'string');
    const isPathname = names.length === 1 && names[0] === 'pathname' && !elsewhere.has(parentOf(string));
    if (names.length === 0 || isPathname) list.add('pattern', region, start, end, value);
  }
}

interface JsonString {
  /** Path of the string in the JSON document, as object keys and array indexes. The path of a key ends with this key. */
  readonly path: readonly (string | number)[];
  readonly isKey: boolean;
  readonly start: number;
  readonly end: number;
  readonly value: string;
}

const DEPTH_MAX = 64;

function jsonStrings({ text }: Region): JsonString[] {
  const start = text.startsWith('\u00ef\u00bb\u00bf') ? 3 : 0;
  if (jsonOf(text.slice(start)) === undefined) return [];
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
      const value = unitsOfText(String(JSON.parse(decodeUnits(text.slice(at, end + 1)))));
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

export function endOfString(text: string, start: number): number {
  let at = start;
  while (at < text.length && text[at] !== '"') at += text[at] === '\\' ? 2 : 1;
  return at;
}
