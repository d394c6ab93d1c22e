import type { Mount } from '../mount/base-path.ts';
import { rebase } from '../mount/base-path.ts';
import { PathPattern, withoutSlash } from './path-pattern.ts';
import { RuleCounter, type RuleFault, ruleLines } from './rule-file.ts';

/** Taken from `_headers` (contract, section 4.1), as they are written; how several values of one name are joined. */
const TAKEN: ReadonlyMap<string, 'last' | 'list'> = new Map([
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
const NAMES = new Map([...TAKEN.keys()].map((name) => [name.toLowerCase(), name]));

/** Of one header in an answer, after joining: clients and proxies take 8 KiB for a line. */
const VALUE_CHARS_MAX = 4096;

export interface HeaderRule {
  readonly pattern: PathPattern;
  /** By the names of `TAKEN`; what one rule says several times is joined. */
  readonly set: ReadonlyMap<string, string>;
  /** `! Name`: what earlier rules and docshelf's own settings say of it is gone. */
  readonly removed: ReadonlySet<string>;
}

/** `_headers`, in the syntax that Netlify and Cloudflare Pages share. */
export function parseHeaders(text: string): { rules: HeaderRules; faults: RuleFault[] } {
  const faults: RuleFault[] = [];
  const rules: HeaderRule[] = [];
  const counter = new RuleCounter();
  const tell = (line: number, reason: string): void => {
    faults.push({ file: '_headers', line, reason });
  };
  /** `left`: the headers below belong to a rule that is left out, and that is told. */
  let open: { set: Map<string, string>; removed: Set<string> } | 'left' | null = null;
  for (const { number, text: line } of ruleLines(text, tell)) {
    if (/^(?:\/|https?:\/\/)/i.test(line)) {
      const pattern = /^\//.test(line)
        ? PathPattern.parse(line)
        : `"${line}" names a host; rules of docshelf begin with a path`;
      const refusal = counter.refuse() ?? (typeof pattern === 'string' ? pattern : null);
      if (refusal !== null || typeof pattern === 'string') {
        open = 'left';
        if (refusal) tell(number, refusal);
        continue;
      }
      open = { set: new Map(), removed: new Set() };
      rules.push({ pattern, ...open });
    } else if (open === null) tell(number, 'stands before the first path');
    else if (open !== 'left') {
      const reason = addLine(line, open);
      if (reason !== null) tell(number, reason);
    }
  }
  return { rules: new HeaderRules(rules.filter(({ set, removed }) => set.size + removed.size > 0)), faults };
}

function addLine(line: string, { set, removed }: { set: Map<string, string>; removed: Set<string> }): string | null {
  const isRemoval = line.startsWith('!');
  const colon = line.indexOf(':');
  if (!isRemoval && colon <= 0) return 'is neither a path nor a header such as "Name: value"';
  const written = (isRemoval ? line.slice(1) : line.slice(0, colon)).trim();
  const name = NAMES.get(written.toLowerCase());
  if (name === undefined) return `says "${written}", which docshelf does not take from a bundle`;
  if (isRemoval) {
    removed.add(name);
    return null;
  }
  const value = line.slice(colon + 1).trim();
  if (!/^[\x20-\x7e\t]+$/.test(value)) return `gives ${name} a value that is empty or not ASCII`;
  if (value.length > VALUE_CHARS_MAX) return `makes ${name} longer than ${VALUE_CHARS_MAX} characters`;
  const taken = takenValue(name, value);
  if (taken === null) return `gives ${name} nothing that stays on the site: "${value.slice(0, 100)}"`;
  const joined = set.has(name) ? `${set.get(name)}, ${taken}` : taken;
  if (joined.length > VALUE_CHARS_MAX) return `makes ${name} longer than ${VALUE_CHARS_MAX} characters`;
  set.set(name, joined);
  const dropped = name.startsWith(POLICY) ? directivesOf(value).filter(reportsElsewhere) : [];
  if (dropped.length === 0) return null;
  return `has a reporting address in ${name} that docshelf does not take from a bundle: "${dropped.join('; ').slice(0, 100)}"`;
}

const POLICY = 'Content-Security-Policy';

const directivesOf = (policies: string): string[] => policies.split(/[,;]/).map((directive) => directive.trim());

/** What of it neither reports to another host nor lets pages load from one; null for nothing. */
function takenValue(name: string, value: string): string | null {
  if (name === 'Link') {
    const links = value.match(/<[^>]*>[^,<]*(?:,(?!\s*<)[^,<]*)*/g) ?? [];
    const own = links.map(withoutCommas).filter((link) => /^<\/(?![/\\])/.test(link));
    return own.length === 0 ? null : own.join(', ');
  }
  if (!name.startsWith(POLICY)) return value;
  const policies = value.split(',').map((policy) =>
    policy
      .split(';')
      .filter((directive) => !reportsElsewhere(directive))
      .join(';')
      .trim(),
  );
  return policies.filter((policy) => policy.replaceAll(';', '').trim() !== '').join(', ') || null;
}

/** In steps, as all that reads a value is: an expression that tries anew takes a bundle's word for how long. */
function withoutCommas(link: string): string {
  let end = link.length;
  while (end > 0 && /[,\s]/.test(link.charAt(end - 1))) end -= 1;
  return link.slice(0, end);
}

function reportsElsewhere(directive: string): boolean {
  const [name = '', ...places] = directive.trim().toLowerCase().split(/\s+/);
  if (name === 'report-to') return true;
  return name === 'report-uri' && !(places.length > 0 && places.every((place) => /^\/(?![/\\])/.test(place)));
}

/** What the rules that match an address say together. Equal sets of rules give the same object. */
export interface SiteHeaders {
  readonly set: ReadonlyMap<string, string>;
  readonly removed: ReadonlySet<string>;
}

export const NO_HEADERS: SiteHeaders = { set: new Map(), removed: new Set() };

/** Sets of rules that are kept joined. */
const SETS_MAX = 1024;

export class HeaderRules {
  readonly #rules: readonly HeaderRule[];
  readonly #joined = new Map<string, SiteHeaders>();

  constructor(rules: readonly HeaderRule[]) {
    this.#rules = rules;
  }

  get isEmpty(): boolean {
    return this.#rules.length === 0;
  }

  /** @param asked the path of the request, decoded, with its first slash */
  of(asked: string): SiteHeaders {
    if (this.isEmpty) return NO_HEADERS;
    const path = withoutSlash(asked);
    const matching: number[] = [];
    for (const [index, { pattern }] of this.#rules.entries()) if (pattern.match(path) !== null) matching.push(index);
    if (matching.length === 0) return NO_HEADERS;
    const key = matching.join();
    const known = this.#joined.get(key);
    if (known !== undefined) return known;
    if (this.#joined.size >= SETS_MAX) this.#joined.clear();
    const joined = this.#join(matching);
    this.#joined.set(key, joined);
    return joined;
  }

  /** Paths of links, mounted elsewhere than the site was built for. */
  mounted(mount: Mount): HeaderRules {
    if (this.isEmpty || mount.from === mount.to) return this;
    const moved = (link: string): string =>
      link.replace(/<([^>]*)>/g, (_, url: string) => `<${rebase(url, mount) ?? url}>`);
    return new HeaderRules(
      this.#rules.map((rule) => {
        const link = rule.set.get('Link');
        return link === undefined ? rule : { ...rule, set: new Map(rule.set).set('Link', moved(link)) };
      }),
    );
  }

  #join(matching: readonly number[]): SiteHeaders {
    const set = new Map<string, string>();
    const removed = new Set<string>();
    for (const index of matching) {
      const rule = this.#rules[index];
      for (const name of rule?.removed ?? []) {
        set.delete(name);
        removed.add(name);
      }
      for (const [name, value] of rule?.set ?? []) {
        const former = TAKEN.get(name) === 'list' ? set.get(name) : undefined;
        const joined = former === undefined ? value : `${former}, ${value}`;
        if (joined.length <= VALUE_CHARS_MAX) set.set(name, joined);
      }
    }
    return { set, removed };
  }
}
