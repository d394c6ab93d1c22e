import { parse } from 'es-module-lexer/minimal/js';
import type { FoundKind } from './reference.ts';
import type { ReferenceList } from './reference-list.ts';
import type { Region } from './region.ts';

/** Found in every script that does one of the things below; looking for those costs more. */
const MAY_NAME =
  /\bfetch\b|\.open\b|\bAudio\b|\.src\b|\.href\b|\.setAttribute\b|\blocation\b|[uU]rl["']?\s*:\s*["'][^"'\n]*\.(?:json|ya?ml)["'?]|\b(?:axios|jQuery|Redoc|System)\b|\$\.get|\.loadIndex\b/;

/**
 * Where a script within a page hands a whole string to what takes it for an address, seen from the page: what it loads, and
 * where it leads. A string that goes on behind its end (`"/a" + b`) is a part of an address, and is passed over, and so is
 * what is sent with another method than GET. Beside what browsers have: the calls of common libraries, the descriptions that
 * Swagger UI and its like are given (`url: "openapi.json"`), and Sphinx's index.
 */
const LOADS = [
  /(?:\bfetch|\$\.get(?:JSON|Script)?|\bjQuery\.get(?:JSON|Script)?|\baxios(?:\.get)?|\bRedoc\.init|\bSystem\.import|\.loadIndex)\s*\(/,
  /\.open\s*\(\s*["']GET["']\s*,|\bnew\s+Audio\s*\(|\.src\s*=|\.setAttribute\s*\(\s*["']src["']\s*,/,
  // Of links, which a reader may follow, only those to what pages load.
  /\.href\s*=(?=\s*["'][^"'\n]*\.(?:css|ico|png|svg)["'?])/,
  /(?:[uU]rl|"\w{0,30}[uU]rl"|'\w{0,30}[uU]rl')\s*:(?=\s*["'][^"'\n]*\.(?:json|ya?ml)["'?])/,
];
const LEADS = [/\blocation(?:\.href)?\s*=|\blocation\.(?:assign|replace)\s*\(|\bwindow\.open\s*\(/];
const WHOLE_STRING = /\s*(?<literal>"[^"\\\n]+"|'[^'\\\n]+'|`[^`\\$]+`)(?!\s*(?:[+.?[]|,\s*\{[^}]*\bmethod\b))/;
const SINKS = new RegExp(`(?:(?<loads>${anyOf(LOADS)})|(?<leads>${anyOf(LEADS)}))${WHOLE_STRING.source}`, 'g');

function anyOf(patterns: readonly RegExp[]): string {
  return patterns.map(({ source }) => source).join('|');
}

/** Overwrites a sink: the lexer of modules says whether it stands in code, as of the calls in `readScript`. */
const MARK = 'import("';
const MARK_END = '")';

/** Template, state or a bare word: nothing that is surely an address. */
const NO_ADDRESS = /[\s{}<>"]|^[^./]*$/;

/** The end of an address that is surely a file's. */
const FILE = /\.\w{2,11}(?:\?|$)/;
/** More than any script of a page loads; a list of data may have as many. */
const GUESSES_MAX = 500;

/**
 * Of a script in a file, what it loads: seen from a page that it does not know, often one that is beside it (Swagger UI's
 * settings). It is asked for there, in case, and nothing is written.
 */
export function readFileScript({ text }: Region, list: ReferenceList): void {
  let count = 0;
  for (const { groups } of text.matchAll(SINKS)) {
    const value = groups?.literal?.slice(1, -1) ?? '';
    if (groups?.loads === undefined || NO_ADDRESS.test(value) || !FILE.test(value)) continue;
    if (count >= GUESSES_MAX) return;
    list.mention(value);
    count += 1;
  }
}

/** The addresses that a script in a page, or in a handler of one of its elements, loads or leads to. */
export function readPageScript(region: Region, list: ReferenceList): void {
  const { text } = region;
  if (!MAY_NAME.test(text)) return;
  const sinks = new Map<number, { readonly kind: FoundKind; readonly start: number; readonly value: string }>();
  const code = text.replace(SINKS, (...match) => {
    const { loads, literal = '' } = match.at(-1) as Readonly<Record<string, string>>;
    const [sink, at] = [String(match[0]), Number(match.at(-3))];
    const value = literal.slice(1, -1);
    // A call keeps its bracket; an assignment ends what stands before it.
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
  for (const { d } of imports(code)) {
    const sink = sinks.get(d);
    if (sink === undefined || NO_ADDRESS.test(sink.value)) continue;
    list.add(sink.kind, region, sink.start, sink.start + sink.value.length, sink.value);
  }
}

function imports(code: string): ReturnType<typeof parse>[0] {
  try {
    return parse(code)[0];
  } catch {
    return [];
  }
}
