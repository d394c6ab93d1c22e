import { parse } from 'es-module-lexer/minimal/js';
import { filesOfGenerators } from './generators/index.ts';
import type { FoundKind, ReferenceList, Region } from './reference.ts';
import { decodeUnits, unitsOfText } from './source-text.ts';
import { SPECIFIER } from './write.ts';

type LexedImport = ReturnType<typeof parse>[0][number];

const MAY_IMPORT = /\bimport\b|\bexport\b/;

/** Calls that load a script. docshelf replaces each call by `import(` in the lexer's input, because the lexer finds only imports. */
const CALLS =
  /\bnew\s+(?:Shared)?Worker\s*\(|\bimportScripts\s*\(|\.\s*(?:audioWorklet|paintWorklet)\s*\.\s*addModule\s*\(|\.\s*serviceWorker\s*\.\s*register\s*\(/g;
const IMPORT_CALL = 'import(';

/** Adds the addresses in a script. If the script has syntax errors, finds no module specifiers in it. */
export function readScript(region: Region, list: ReferenceList): void {
  readMentions(region, list, 'script');
  readCalls(region, list);
  readScopes(region, list);
  for (const [address] of region.text.matchAll(LITERAL).take(LITERALS_MAX)) list.mention(address);
}

function readCalls(region: Region, list: ReferenceList): void {
  const { text } = region;
  const calls = new Map<number, string>();
  const code = text.replace(CALLS, (call, at: number) => {
    calls.set(at + call.length, call);
    return `${','.padEnd(call.length - IMPORT_CALL.length)}${IMPORT_CALL}`;
  });
  if (calls.size === 0 && !MAY_IMPORT.test(text)) return;
  for (const found of lexImports(code)) {
    if (found.d === IMPORT_META) onImportMeta(found, region, list);
    else if (found.n !== undefined) onSpecifier(found, calls, region, list);
  }
}

/** Value of the lexer's field `d` for `import.meta`. For a static import, `d` is -1, and for a dynamic import, a position. */
const IMPORT_META = -2;

function lexImports(code: string): readonly LexedImport[] {
  try {
    return parse(code)[0];
  } catch {
    return [];
  }
}

function onSpecifier(
  { d, s, e }: LexedImport,
  calls: ReadonlyMap<number, string>,
  region: Region,
  list: ReferenceList,
): void {
  const call = calls.get(d + 1);
  // For a dynamic import, the lexer's span includes the quotes of the specifier, so remove them.
  const { start, end, value } = d === -1 ? literalOf(region.text, s, e) : literalOf(region.text, s + 1, e - 1);
  if (call === undefined) list.add('module', region, start, end, value, region.writing | SPECIFIER);
  else if (!call.startsWith('importScripts')) list.add('worker', region, start, end, value);
  else for (const each of stringArguments(region.text, s)) list.add('script', region, each.start, each.end, each.value);
}

const MAY_HAVE_SCOPES = /serviceWorker|workbox|href_matches/i;
/** Matches the code before the scope of a service worker, or before a URL pattern of speculation rules. */
const SCOPES = /(?:(["'`]?)\b(?:scope|href_matches)\1\s*[:=]\s*(?:\[\s*)?|\bgetRegistration\s*\(\s*)(?=["'`])/g;

function readScopes(region: Region, list: ReferenceList): void {
  const { text } = region;
  if (!MAY_HAVE_SCOPES.test(text)) return;
  const found = new Map<number, { readonly kind: FoundKind; readonly literals: readonly StringLiteral[] }>();
  let code = '';
  let copied = 0;
  for (const { 0: start, index } of text.matchAll(SCOPES)) {
    const at = index + start.length;
    const first = at < copied || isAlternative(text, index) ? null : stringAt(text, at);
    if (first === null) continue;
    code += `${text.slice(copied, at)}${IMPORT_CALL}`;
    const literals = start.includes('[') ? [...stringArguments(text, at)] : [first];
    found.set(code.length, { kind: start.includes('href_matches') ? 'pattern' : 'scope', literals });
    copied = first.end + 1;
    code += `${text.slice(at, copied)})`;
  }
  if (found.size === 0) return;
  for (const { d } of lexImports(code + text.slice(copied))) {
    const { kind, literals } = found.get(d + 1) ?? { kind: 'scope', literals: [] };
    for (const { start, end, value } of literals) list.add(kind, region, start, end, value);
  }
}

const isAlternative = (text: string, at: number): boolean => text[skipBlankBack(text, at) - 1] === '?';

type StringLiteral = { readonly start: number; readonly end: number; readonly value: string };

function* stringArguments(text: string, start: number): Generator<StringLiteral> {
  for (let at = start; ; ) {
    const literal = stringAt(text, at);
    if (literal === null) return;
    yield literal;
    at = skipBlank(text, literal.end + 1);
    if (text[at] !== ',') return;
    at = skipBlank(text, at + 1);
  }
}

function onImportMeta({ s, e }: LexedImport, region: Region, list: ReferenceList): void {
  const { text } = region;
  const resolve = /^\s*\.\s*resolve\s*\(\s*/.exec(text.slice(e, e + 40))?.[0];
  if (resolve !== undefined) {
    const literal = stringAt(text, e + resolve.length);
    if (literal !== null)
      list.add('module', region, literal.start, literal.end, literal.value, region.writing | SPECIFIER);
    return;
  }
  if (!/^\s*\.\s*url\b/.test(text.slice(e, e + 40))) return;
  const comma = skipBlankBack(text, s);
  if (text[comma - 1] !== ',') return;
  const literal = stringBefore(text, skipBlankBack(text, comma - 1));
  if (literal === null) return;
  const before = text
    .slice(Math.max(0, literal.start - 200), literal.start - 1)
    .replace(/\/\*(?:(?!\*\/)[\s\S])*\*\//g, ' ');
  if (!/\bnew\s+URL\s*\(\s*$/.test(before)) return;
  const isWorker = /\bnew\s+(?:Shared)?Worker\s*\(\s*new\s+URL\s*\(\s*$/.test(before);
  list.add(isWorker ? 'script' : 'asset', region, literal.start, literal.end, literal.value);
}

function skipBlank(text: string, start: number): number {
  let at = start;
  while (/\s/.test(text[at] ?? '')) at++;
  return at;
}

function skipBlankBack(text: string, end: number): number {
  let at = end;
  while (/\s/.test(text[at - 1] ?? '')) at--;
  return at;
}

function stringAt(text: string, start: number): StringLiteral | null {
  const quote = text[start];
  if (quote !== '"' && quote !== "'" && quote !== '`') return null;
  for (let at = start + 1; at < text.length; at++) {
    const character = text[at];
    if (character === '\\') at++;
    else if (character === quote) return literalOf(text, start + 1, at);
    else if (quote === '`' ? character === '$' && text[at + 1] === '{' : character === '\n') return null;
  }
  return null;
}

function stringBefore(text: string, end: number): StringLiteral | null {
  const quote = text[end - 1];
  if (quote !== '"' && quote !== "'" && quote !== '`') return null;
  for (let at = end - 2; at >= 0 && text[at] !== '\n'; at--) {
    if (text[at] !== quote || text[at - 1] === '\\') continue;
    const literal = literalOf(text, at + 1, end - 1);
    return quote === '`' && literal.value.includes('${') ? null : literal;
  }
  return null;
}

const ESCAPE = /\\(?:u\{([0-9a-f]+)\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(\r\n|[\s\S]))/gi;
export const ESCAPES: Readonly<Record<string, string>> = {
  n: '\n',
  r: '\r',
  t: '\t',
  b: '\b',
  f: '\f',
  v: '\v',
  0: '\0',
};

function literalOf(text: string, start: number, end: number): StringLiteral {
  const written = text.slice(start, end);
  if (!written.includes('\\')) return { start, end, value: written };
  const value = decodeUnits(written).replace(ESCAPE, (_, braced?: string, four?: string, two?: string, single = '') => {
    const hex = braced ?? four ?? two;
    if (hex !== undefined) return String.fromCodePoint(Math.min(Number.parseInt(hex, 16), 0x10ffff));
    return /^[\r\n]/.test(single) ? '' : (ESCAPES[single] ?? single);
  });
  return { start, end, value: unitsOfText(value) };
}

const MAY_NAME =
  /\bfetch\b|\.open\b|\bAudio\b|\.src\b|\.href\b|\.setAttribute\b|\blocation\b|[uU]rl["']?\s*:\s*["'][^"'\n]*\.(?:json|ya?ml)["'?]|\b(?:axios|jQuery|Redoc|System)\b|\$\.get|\.loadIndex\b/;

/**
 * Code that loads an address relative to the page. Matched together with `WHOLE_STRING`, which excludes concatenations (`"/a"
 * + b`) and methods except GET.
 */
const LOADS = [
  /(?:\bfetch|\$\.get(?:JSON|Script)?|\bjQuery\.get(?:JSON|Script)?|\baxios(?:\.get)?|\bRedoc\.init|\bSystem\.import|\.loadIndex)\s*\(/,
  /\.open\s*\(\s*["']GET["']\s*,|\bnew\s+Audio\s*\(|\.src\s*=|\.setAttribute\s*\(\s*["']src["']\s*,/,
  /\.href\s*=(?=\s*["'][^"'\n]*\.(?:css|ico|png|svg)["'?])/,
  /(?:[uU]rl|"\w{0,30}[uU]rl"|'\w{0,30}[uU]rl')\s*:(?=\s*["'][^"'\n]*\.(?:json|ya?ml)["'?])/,
];
const LEADS = [/\blocation(?:\.href)?\s*=|\blocation\.(?:assign|replace)\s*\(|\bwindow\.open\s*\(/];
const WHOLE_STRING = /\s*(?<literal>"[^"\\\n]+"|'[^'\\\n]+'|`[^`\\$]+`)(?!\s*(?:[+.?[]|,\s*\{[^}]*\bmethod\b))/;
const SINKS = new RegExp(`(?:(?<loads>${anyOf(LOADS)})|(?<leads>${anyOf(LEADS)}))${WHOLE_STRING.source}`, 'g');

function anyOf(patterns: readonly RegExp[]): string {
  return patterns.map(({ source }) => source).join('|');
}

const MARK = 'import("';
const MARK_END = '")';

const NO_ADDRESS = /[\s{}<>"]|^[^./]*$/;

const FILE = /\.\w{2,11}(?:\?|$)/;
const GUESSES_MAX = 500;

/** Lists the files that a script loads, such as the API description of Swagger UI. Their addresses are relative to the page. */
export function readFileScript({ text }: Region, list: ReferenceList): void {
  const loads = text
    .matchAll(SINKS)
    .flatMap(({ groups }) => (groups?.loads === undefined ? [] : [groups.literal ?? '']));
  const addresses = loads.map((literal) => literal.slice(1, -1));
  const files = addresses.filter((value) => !NO_ADDRESS.test(value) && FILE.test(value));
  for (const file of files.take(GUESSES_MAX)) list.mention(file);
}

export function readPageScript(region: Region, list: ReferenceList): void {
  const { text } = region;
  if (!MAY_NAME.test(text)) return;
  const sinks = new Map<number, { readonly kind: FoundKind; readonly start: number; readonly value: string }>();
  const code = text.replace(SINKS, (...match) => {
    const { loads, literal = '' } = match.at(-1) as Readonly<Record<string, string>>;
    const [sink, at] = [String(match[0]), Number(match.at(-3))];
    const value = literal.slice(1, -1);
    // Begin the replacement of a call with `(`, and the replacement of an assignment with `,`, which ends the previous
    // expression.
    const opening = sink.slice(0, -literal.length).includes('(') ? '(' : ',';
    const room = sink.length - opening.length - MARK.length - MARK_END.length;
    if (room < 0) return sink;
    sinks.set(at + opening.length + MARK.length - 2, {
      kind: loads === undefined ? 'link' : 'lazy',
      start: at + sink.length - literal.length + 1,
      value,
    });
    return `${opening}${MARK}${'x'.repeat(room)}${MARK_END}`;
  });
  if (sinks.size === 0) return;
  for (const { d } of lexImports(code)) {
    const sink = sinks.get(d);
    if (sink === undefined || NO_ADDRESS.test(sink.value)) continue;
    list.add(sink.kind, region, sink.start, sink.start + sink.value.length, sink.value);
  }
}

export function readMentions({ text }: Region, list: ReferenceList, place: 'script' | 'page script'): void {
  const source = { text, path: list.filePath ?? '', named: list.references };
  for (const file of filesOfGenerators(place, source)) list.mention(file);
}

/** Matches a data file in a string that starts with `./` or `../`, or that is the first argument of a call. */
const DATA =
  /(?:(?<=["'`])\.{1,2}\/|(?<=\(["'`]))[\w~%@+-][\w.~%@+/-]{0,200}\.(?:json|geojson|csv|tsv|ya?ml|cast|wasm)(?=["'`])/g;
/** Maximum length of a script to search for data files. Longer scripts usually repeat the text of the page, with code examples. */
const DATA_SCRIPT_CHARS_MAX = 32 * 1024;

export function readDataLiterals({ text }: Region, list: ReferenceList): void {
  if (text.length > DATA_SCRIPT_CHARS_MAX || text.includes('__next_f')) return;
  for (const [address] of text.matchAll(DATA)) list.mention(address);
}

const LITERAL =
  /(?<=["'`])\/[\w.~%@+-][\w.~%@+/-]{0,200}\.(?:json|m?js|css|wasm|png|jpe?g|gif|svg|webp|avif|ico|mp4|webm|mp3|woff2?)(?:\?[\w=&.%-]{1,60})?(?=\\*["'`])/g;
const LITERALS_MAX = 2_000;
