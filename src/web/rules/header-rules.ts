import { type Mount, rebase } from '../mount/base-path.ts';
import { srcsetSpans } from '../rewrite/markup/elements.ts';
import { namesHost, PathPattern, RuleIndex } from './path-pattern.ts';
import { BUILT_CHARS_MAX, FaultList, ruleLines, Work } from './rule-file.ts';

/** Headers that a `_headers` file may set. If rules set one twice, `list` joins both values, and `last` uses only the second. */
const SUPPORTED: ReadonlyMap<string, 'last' | 'list'> = new Map([
  ['Access-Control-Allow-Origin', 'last'],
  ['Cache-Control', 'last'],
  ['Content-Language', 'last'],
  ['Content-Security-Policy', 'list'],
  ['Content-Security-Policy-Report-Only', 'list'],
  ['Cross-Origin-Embedder-Policy', 'last'],
  ['Cross-Origin-Embedder-Policy-Report-Only', 'last'],
  ['Cross-Origin-Opener-Policy', 'last'],
  ['Cross-Origin-Opener-Policy-Report-Only', 'last'],
  ['Cross-Origin-Resource-Policy', 'last'],
  ['Link', 'list'],
  ['Permissions-Policy', 'list'],
  ['Referrer-Policy', 'last'],
  ['X-Content-Type-Options', 'last'],
  ['X-Frame-Options', 'last'],
  ['X-Robots-Tag', 'list'],
]);
const NAMES = new Map([...SUPPORTED.keys()].map((name) => [name.toLowerCase(), name]));

const VALUE_CHARS_MAX = BUILT_CHARS_MAX / 2;
const JOINED_MAX = 256;

interface HeaderRule {
  readonly pattern: PathPattern;
  readonly set: ReadonlyMap<string, string>;
  /**
   * Header names from lines such as `! Name`. Such a line discards the values that earlier rules and docshelf's settings give
   * this header.
   */
  readonly removed: ReadonlySet<string>;
}

/** Reads `_headers`, in the syntax of Netlify and Cloudflare Pages. */
export function parseHeaders(text: string): { rules: HeaderRules; faults: FaultList } {
  const faults = new FaultList('_headers');
  const rules: { readonly rule: HeaderRule; readonly line: number }[] = [];
  let open: { set: Map<string, string>; removed: Set<string> } | 'left' | null = null;
  for (const { number, text: line } of ruleLines(text, faults)) {
    if (/^(?:\/|https?:\/\/)/i.test(line)) {
      open = 'left';
      if (faults.refusesRule(number)) continue;
      const pattern = line.startsWith('/') ? PathPattern.parse(line) : namesHost(line);
      if (typeof pattern === 'string') faults.add(number, pattern);
      else {
        open = { set: new Map(), removed: new Set() };
        rules.push({ rule: { pattern, ...open }, line: number });
      }
    } else if (open === null) faults.add(number, 'comes before the first path');
    else if (open !== 'left') {
      const fault = addLine(line, open);
      if (fault !== null) faults.add(number, fault.reason, fault.use);
    }
  }
  const headers = new HeaderRules();
  for (const { rule, line } of rules) {
    const reason = rule.set.size + rule.removed.size === 0 ? null : headers.add(rule);
    if (reason !== null) faults.add(line, reason);
  }
  return { rules: headers, faults };
}

function addLine(line: string, { set, removed }: { set: Map<string, string>; removed: Set<string> }) {
  const isRemoval = line.startsWith('!');
  const colon = line.indexOf(':');
  if (!isRemoval && colon <= 0) return { reason: 'is neither a path nor a header such as "Name: value"' };
  const written = (isRemoval ? line.slice(1) : line.slice(0, colon)).trim();
  const name = NAMES.get(written.toLowerCase());
  if (name === undefined) return { reason: `sets "${written}", which docshelf does not accept from a bundle` };
  if (isRemoval) {
    removed.add(name);
    return null;
  }
  const value = line.slice(colon + 1).trim();
  if (!/^[\x20-\x7e\t]+$/.test(value)) return { reason: `sets ${name} to a value that is empty or not ASCII` };
  const tooLong = { reason: `makes ${name} longer than ${VALUE_CHARS_MAX} characters` };
  if (value.length > VALUE_CHARS_MAX) return tooLong;
  const { own, leftOut } = localValue(name, value);
  if (own === '') return { reason: `sets ${name} to a value that contacts another site: "${value.slice(0, 100)}"` };
  const joined = set.has(name) ? `${set.get(name)}, ${own}` : own;
  if (joined.length > VALUE_CHARS_MAX) return tooLong;
  set.set(name, joined);
  if (leftOut === null) return null;
  return {
    reason: `has parts of ${name} that may contact another site (${leftOut})`,
    use: 'docshelf applies the other parts',
  };
}

/** Splits a header value. `own` omits the parts that send reports to other hosts or load files from them. */
function localValue(name: string, value: string): { readonly own: string; readonly leftOut: string | null } {
  if (name === 'Link') {
    const { links, leftOut } = localLinks(value);
    return { own: links.map(writeLink).join(', '), leftOut: leftOut === 0 ? null : String(leftOut) };
  }
  if (!name.startsWith('Content-Security-Policy')) return { own: value, leftOut: null };
  const others: string[] = [];
  const policies = value.split(',').map((policy) => {
    const directives = policy.split(';');
    const own = directives.filter((directive) => !reportsElsewhere(directive));
    others.push(...directives.filter(reportsElsewhere).map((directive) => directive.trim()));
    return own.join(';').trim();
  });
  const leftOut = others.length === 0 ? null : others.join('; ').slice(0, SHOWN_CHARS_MAX);
  return { own: policies.filter((policy) => policy.replaceAll(';', '').trim() !== '').join(', '), leftOut };
}

const SHOWN_CHARS_MAX = 100;

function reportsElsewhere(directive: string): boolean {
  const [name = '', ...places] = directive.trim().toLowerCase().split(/\s+/);
  if (name === 'report-to') return true;
  return name === 'report-uri' && !(places.length > 0 && places.every((place) => /^\/(?![/\\])/.test(place)));
}

export interface SiteHeaders {
  /** Numbers of the applied rules, as text. Equal texts mean equal headers. Empty if no rule applies. */
  readonly id: string;
  readonly set: ReadonlyMap<string, string>;
  readonly removed: ReadonlySet<string>;
}

export class HeaderRules {
  readonly #index = new RuleIndex<HeaderRule>();

  add(rule: HeaderRule): string | null {
    return this.#index.add(rule);
  }

  get isEmpty(): boolean {
    return this.#index.rules.length === 0;
  }

  headersFor(asked: string, work = new Work()): SiteHeaders {
    return this.#join(this.isEmpty ? [] : (this.#index.find(asked, work)?.slice(0, JOINED_MAX) ?? []));
  }

  /** Moves the paths in `Link` headers to another base path. */
  mounted(mount: Mount): HeaderRules {
    const movedPath = (path: string): string => rebase(path, mount) ?? path;
    const moved = (value: string): string =>
      localLinks(value)
        .links.map((link) => writeLink(movedLink(link, movedPath)))
        .join(', ');
    const headers = new HeaderRules();
    for (const rule of this.#index.rules) {
      const link = rule.set.get('Link');
      headers.add(link === undefined ? rule : { ...rule, set: new Map(rule.set).set('Link', moved(link)) });
    }
    return headers;
  }

  #join(matching: readonly number[]): SiteHeaders {
    const set = new Map<string, string>();
    const removed = new Set<string>();
    const charsOf = (name: string): number => (set.get(name)?.length ?? -name.length) + name.length;
    let chars = 0;
    for (const index of matching) {
      const rule = this.#index.rules[index];
      for (const name of rule?.removed ?? []) {
        chars -= charsOf(name);
        set.delete(name);
        removed.add(name);
      }
      for (const [name, value] of rule?.set ?? []) {
        const former = SUPPORTED.get(name) === 'list' ? set.get(name) : undefined;
        const joined = former === undefined ? value : `${former}, ${value}`;
        const more = joined.length + name.length - charsOf(name);
        if (joined.length > VALUE_CHARS_MAX || chars + more > BUILT_CHARS_MAX) continue;
        set.set(name, joined);
        chars += more;
      }
    }
    return { id: matching.join(), set, removed };
  }
}

interface HeaderLink {
  readonly address: string;
  /** Parameters of the link as written in the header, such as `rel=preload` or `crossorigin`. */
  readonly parameters: readonly string[];
}

/** Matches a path without characters that URL parsers strip or change (URL standard: tabs, line ends, backslashes). */
const OWN_PATH = /^\/(?![/\\])[^\s<>"\\]*$/;
const OWN_NAME = /^[^\s<>"\\:/]*$/;
/** Matches a link, or the rest of the header from a `<` or `"` that is never closed. */
const LINKS = /,*((?:<[^>]*>|"(?:[^"\\]|\\.)*"|[^<",])+(?=,|$)|[^,].*)/gy;
/** Matches a parameter of a link. Its value may lack the quotes, because many sites omit them. */
const PARAMETER =
  /[ \t]*;[ \t]*(?:(?<name>[!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*(?<assigned>=[ \t]*(?<text>"(?:[^"\\]|\\.)*"|[^,;"<>\s]+)?)?)?/y;
const TEXTS = new Set(
  'rel rev type title title* hreflang media as crossorigin integrity nonce referrerpolicy fetchpriority imagesizes sizes blocking'.split(
    ' ',
  ),
);

function localLinks(value: string): { readonly links: readonly HeaderLink[]; readonly leftOut: number } {
  const written = Array.from(value.matchAll(LINKS), ([, link = '']) => link.trim()).filter((link) => link !== '');
  const links = written.flatMap((link) => readLink(link) ?? []);
  return { links, leftOut: written.length - links.length };
}

const writeLink = ({ address, parameters }: HeaderLink): string => [`<${address}>`, ...parameters].join('; ');

function movedLink({ address, parameters }: HeaderLink, moved: (path: string) => string): HeaderLink {
  return {
    address: moved(address),
    parameters: parameters.map((parameter) => {
      const [, name = '', value = ''] = /^([^=]+)="?([^"]*)"?$/.exec(parameter) ?? [];
      if (TEXTS.has(name.toLowerCase()) || value === '') return parameter;
      let written = '';
      let end = 0;
      for (const [from, to] of addressSpans(name, value)) {
        written += value.slice(end, from) + moved(value.slice(from, to));
        end = to;
      }
      return `${name}="${written}${value.slice(end)}"`;
    }),
  };
}

function readLink(value: string): HeaderLink | null {
  const close = value.startsWith('<') ? value.indexOf('>') : -1;
  const address = value.slice(1, Math.max(close, 1)).trim();
  if (!OWN_PATH.test(address)) return null;
  const parameters: string[] = [];
  let at = close + 1;
  PARAMETER.lastIndex = at;
  for (let match = PARAMETER.exec(value); match !== null; match = PARAMETER.exec(value)) {
    at = PARAMETER.lastIndex;
    const { name, assigned, text = '' } = match.groups ?? {};
    if (name === undefined) continue;
    if (assigned !== undefined && !staysHere(name.toLowerCase(), text.replace(/^"|"$/g, ''))) return null;
    parameters.push(assigned === undefined ? name : `${name}=${text}`);
  }
  return value.slice(at).trim() === '' ? { address, parameters } : null;
}

/**
 * True for a parameter of a `Link` header that is safe to send. False if a browser may read an address of another host, or
 * another link, in its value.
 */
function staysHere(name: string, value: string): boolean {
  if (value === '' || /[<\t]/.test(value)) return false;
  if (TEXTS.has(name)) return true;
  // Reject names that end in `*`, because the encoded value of such a parameter, `anchor*=UTF-8''…`, can hide an address.
  if (name.endsWith('*')) return false;
  const addresses = addressSpans(name, value).map((span) => value.slice(...span));
  return addresses.every((address) => OWN_PATH.test(address) || OWN_NAME.test(address));
}

const addressSpans = (name: string, value: string): readonly (readonly [from: number, to: number])[] =>
  name.toLowerCase() === 'imagesrcset' ? srcsetSpans(value) : [[0, value.length]];
