import { type Edit, encodePath } from '../../web/rewrite/index.ts';
import { naturalName } from '../names.ts';
import type { Scope } from '../scope.ts';

const LITERAL_CHARS_MAX = 2_000;
const CONTENT = 'content=';
const QUOTES = new Set(['"', "'", '`']);

/**
 * Addresses in scripts and pages that scripts were seen to ask for; of a literal that goes on (`"https://cdn/" +
 * name`), the beginning. They become addresses from the root, since a script's are resolved from the page that runs it.
 */
export class AskedLiterals {
  readonly #scope: Scope;
  readonly #paths: ReadonlyMap<string, string>;
  readonly #asked: ReadonlySet<string>;
  /** Beginnings of asked addresses: the same ones stand in many files. */
  readonly #beginnings = new Map<string, boolean>();
  readonly #origins: readonly string[];

  /** @param asked canonical addresses @param paths by address */
  constructor(asked: readonly string[], paths: ReadonlyMap<string, string>, scope: Scope) {
    this.#scope = scope;
    this.#paths = paths;
    this.#asked = new Set(asked);
    const origins = new Set(asked.map((url) => new URL(url).origin));
    if (origins.has(scope.origin)) {
      for (const host of scope.settings.hosts) origins.add(`https://${host}`).add(`http://${host}`);
    }
    this.#origins = [...origins];
  }

  editsIn(units: string): Edit[] {
    const edits: Edit[] = [];
    for (const origin of this.#origins) {
      for (let at = units.indexOf(origin); at !== -1; at = units.indexOf(origin, at + origin.length)) {
        const literal = literalAt(units, at);
        if (literal === null) continue;
        const text = literal.isWhole ? this.#addressOf(literal.text) : this.#prefixOf(literal.text, origin);
        if (text !== null) edits.push({ start: at, end: at + literal.text.length, text });
      }
    }
    return edits;
  }

  #addressOf(literal: string): string | null {
    const url = URL.parse(literal);
    const canonical = url === null ? null : this.#scope.canonical(url);
    const path = canonical === null ? undefined : this.#paths.get(canonical);
    if (url === null || path === undefined || canonical === null || !this.#asked.has(canonical)) return null;
    return `/${encodePath(path)}${url.hash}`;
  }

  /** From the root. Files of other hosts lie in a folder of theirs. */
  #prefixOf(literal: string, origin: string): string | null {
    const path = literal.slice(origin.length);
    if (path !== '' && !path.startsWith('/')) return null;
    const url = new URL(origin);
    const canonical = this.#scope.canonical(url);
    if (canonical === null || !this.#isAskedFrom(canonical.slice(0, -1) + path)) return null;
    if (this.#scope.isOwn(url)) return path;
    return `/${encodePath(naturalName(url, '', this.#scope.origin).folder).replace(/\/$/, '')}${path}`;
  }

  #isAskedFrom(beginning: string): boolean {
    const known = this.#beginnings.get(beginning);
    if (known !== undefined) return known;
    const isAsked = this.#asked.values().some((url) => url.startsWith(beginning));
    this.#beginnings.set(beginning, isAsked);
    return isAsked;
  }
}

/** Up to the literal's end, or to a part that is filled in. */
function literalAt(units: string, at: number): { readonly text: string; readonly isWhole: boolean } | null {
  const quote = units[at - 1] ?? '';
  // A meta's content is for readers elsewhere.
  if (!QUOTES.has(quote) || units.slice(at - 1 - CONTENT.length, at - 1).toLowerCase() === CONTENT) return null;
  const rest = units.slice(at, at + LITERAL_CHARS_MAX);
  const end = rest.indexOf(quote);
  const filled = quote === '`' ? rest.indexOf('${') : -1;
  if (filled !== -1 && (end === -1 || filled < end)) return { text: rest.slice(0, filled), isWhole: false };
  if (end === -1) return null;
  const text = rest.slice(0, end);
  if (/[\s\\<>]/.test(text)) return null;
  return { text, isWhole: !/^\s*\+/.test(rest.slice(end + 1, end + 20)) };
}
