import { lexImports } from './read-script.ts';
import type { FoundKind } from './reference.ts';
import type { ReferenceList } from './reference-list.ts';
import type { Region } from './region.ts';

/** In every script that has one of the sinks; looking for those costs more. */
const MAY_NAME =
  /\bfetch\b|\.open\b|\bAudio\b|\.src\b|\.href\b|\.setAttribute\b|\blocation\b|[uU]rl["']?\s*:\s*["'][^"'\n]*\.(?:json|ya?ml)["'?]|\b(?:axios|jQuery|Redoc|System)\b|\$\.get|\.loadIndex\b/;

/**
 * Sinks that take a whole string for an address, seen from the page: browsers' and common libraries' own, API
 * descriptions (`url: "openapi.json"`), Sphinx's index. Not `"/a" + b`, and no other methods than GET.
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

/** Overwrites a sink, as `readScript` does with calls. */
const MARK = 'import("';
const MARK_END = '")';

const NO_ADDRESS = /[\s{}<>"]|^[^./]*$/;

const FILE = /\.\w{2,11}(?:\?|$)/;
/** More than any script of a page loads; a list of data may have as many. */
const GUESSES_MAX = 500;

/** Seen from a page that is often beside it (Swagger UI's settings); never written. */
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
  for (const { d } of lexImports(code)) {
    const sink = sinks.get(d);
    if (sink === undefined || NO_ADDRESS.test(sink.value)) continue;
    list.add(sink.kind, region, sink.start, sink.start + sink.value.length, sink.value);
  }
}
