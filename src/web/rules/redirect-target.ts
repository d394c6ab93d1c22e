import { percentDecode } from '../percent-decode.ts';
import { encodeSegments } from '../percent-encode.ts';
import type { Captures } from './path-pattern.ts';

const ORIGIN = /^https?:\/\/[^/?#]+/i;
const PLACEHOLDER = /:([A-Za-z]\w*)/g;

/** Where a rule leads: a path of the site, or an address on a host that stands in the rule as it is. */
export class RedirectTarget {
  /** Null for a path of the site. */
  readonly origin: string | null;
  readonly #path: string;
  readonly #rest: string;

  private constructor(origin: string | null, path: string, rest: string) {
    this.origin = origin;
    this.#path = path;
    this.#rest = rest;
  }

  /** @returns the rest of a sentence where it cannot be read */
  static parse(written: string): RedirectTarget | string {
    const origin = ORIGIN.exec(written)?.[0] ?? null;
    if (origin !== null) {
      const url = URL.parse(origin);
      if (url === null || url.username !== '' || url.password !== '' || /[%\\]/.test(origin)) {
        return `"${origin}" is no host that can be led to`;
      }
    } else if (!/^\/(?![/\\])/.test(written)) {
      return `"${written}" is neither a path from the root of the site nor an http or https address`;
    }
    const relative = written.slice(origin?.length ?? 0);
    const end = relative.search(/[?#]/);
    const path = end === -1 ? relative : relative.slice(0, end);
    if (percentDecode(path) === null) return `"${written}" holds a percent sign that does not stand for a character`;
    return new RedirectTarget(origin, path === '' ? '/' : path, end === -1 ? '' : relative.slice(end));
  }

  /** Without placeholders. */
  get isLiteral(): boolean {
    return !/:[A-Za-z]/.test(this.#path);
  }

  /** The path in the site, decoded; null where what was captured makes none. */
  pathOf(captures: Captures): string | null {
    const path = percentDecode(expand(this.#path, captures, (text) => text.replaceAll('%', '%25')));
    return path === null ? null : path.replace(/^\/+/, '/');
  }

  /**
   * For a Location header: nothing that was captured leads to another host or makes a second header.
   * @param moved the path, mounted elsewhere
   * @param query of the request, with its `?`, or empty
   */
  location(captures: Captures, query: string, moved: (path: string) => string): string {
    const path = folded(escaped(expand(this.#path, captures, encodeSegments)));
    const rest = escaped(expand(this.#rest, captures, encodeURIComponent));
    const hash = rest.indexOf('#');
    const [ownQuery, fragment] = hash === -1 ? [rest, ''] : [rest.slice(0, hash), rest.slice(hash)];
    const joined = ownQuery.length > 1 && query.length > 1 ? `${ownQuery}&${query.slice(1)}` : ownQuery || query;
    return (this.origin === null ? folded(moved(path)) : this.origin + path) + joined + fragment;
  }
}

/** `//host` would lead to a host: also where the move takes the first folder away. */
const folded = (path: string): string => path.replace(/^[/\\]+/, '/');

function expand(template: string, captures: Captures, encode: (text: string) => string): string {
  return template.replace(PLACEHOLDER, (written, name: string) => {
    const text = captures.get(name);
    return text === undefined ? written : encode(text);
  });
}

/** What no address holds as it is; escapes stay. */
function escaped(text: string): string {
  return text.replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, encodeURIComponent);
}

/** True where a location is the address that was asked, by its host and path. */
export function isAt(location: string, host: string | undefined, asked: string): boolean {
  const url = URL.parse(location);
  if (url === null || url.host !== host?.toLowerCase()) return false;
  return percentDecode(url.pathname) === asked;
}
