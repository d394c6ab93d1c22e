import { percentDecode } from '../percent-decode.ts';

/** What stood for `:name` and for `*`, which is `splat`. */
export type Captures = ReadonlyMap<string, string>;

type Part = string | { readonly name: string };

const PLACEHOLDER = /^:[A-Za-z]\w*$/;

/**
 * The path of a rule: segments, of which `:name` stands for one and `*` at the end for the rest; or one `*` in a path without
 * placeholders. Matching takes time by the length of the path, whatever a rule says. A last slash makes no difference.
 */
export class PathPattern {
  /** Null where the path is matched whole. */
  readonly literal: string | null;
  /** With its slash; null where it is not written out. */
  readonly firstSegment: string | null;
  readonly #prefix: string;
  /** Behind a `*` that does not end the path. */
  readonly #suffix: string | null;
  readonly #parts: readonly Part[];
  readonly #hasRest: boolean;

  private constructor(path: string, parts: readonly Part[], star: number) {
    const hasNames = parts.some((part) => typeof part !== 'string');
    this.literal = star === -1 && !hasNames ? path : null;
    this.#hasRest = star !== -1 && star === path.length - 1;
    this.#suffix = star === -1 || this.#hasRest ? null : path.slice(star + 1);
    this.#prefix = star === -1 ? path : path.slice(0, star);
    this.#parts = hasNames ? parts : [];
    const [first] = parts;
    this.firstSegment = typeof first !== 'string' || first.includes('*') ? null : `/${first}`;
  }

  /** @returns the rest of a sentence where it cannot be read */
  static parse(written: string): PathPattern | string {
    if (!written.startsWith('/')) return `"${written}" is no path from the root of the site`;
    const decoded = percentDecode(written);
    if (decoded === null) return `"${written}" holds a percent sign that does not stand for a character`;
    if (/[?#\\]|\/\//.test(decoded)) return `"${written}" is more than a path`;
    const path = withoutSlash(decoded);
    const star = path.indexOf('*');
    if (star !== path.lastIndexOf('*')) return `"${written}" has several "*"; one is understood`;
    const parts: Part[] = [];
    for (const segment of path.split('/').slice(1)) {
      if (!segment.startsWith(':')) parts.push(segment);
      else if (PLACEHOLDER.test(segment)) parts.push({ name: segment.slice(1) });
      else return `"${segment}" is no placeholder; one is a whole segment such as ":name"`;
    }
    const hasNames = parts.some((part) => typeof part !== 'string');
    if (star !== -1 && hasNames && (star !== path.length - 1 || path[star - 1] !== '/')) {
      return `"${written}" has placeholders and a "*" that is not its last segment`;
    }
    return new PathPattern(path, parts, star);
  }

  /** @param path decoded, with its first slash and without its last one */
  match(path: string): Captures | null {
    if (this.literal !== null) return path === this.literal ? new Map() : null;
    if (this.#parts.length > 0) return this.#matchParts(path);
    if (this.#suffix !== null) return this.#matchAround(path, this.#suffix);
    // `/a/*` is for `/a`, too.
    if (!path.startsWith(this.#prefix)) return `${path}/` === this.#prefix ? new Map([['splat', '']]) : null;
    return new Map([['splat', path.slice(this.#prefix.length)]]);
  }

  #matchAround(path: string, suffix: string): Captures | null {
    const rest = path.length - this.#prefix.length - suffix.length;
    if (rest < 0 || !path.startsWith(this.#prefix) || !path.endsWith(suffix)) return null;
    return new Map([['splat', path.slice(this.#prefix.length, path.length - suffix.length)]]);
  }

  #matchParts(path: string): Captures | null {
    const captures = new Map<string, string>();
    let at = 1;
    const last = this.#hasRest ? this.#parts.length - 1 : this.#parts.length;
    for (const part of this.#parts.slice(0, last)) {
      if (at > path.length) return null;
      const slash = path.indexOf('/', at);
      const segment = path.slice(at, slash === -1 ? path.length : slash);
      if (typeof part === 'string' ? segment !== part : segment === '') return null;
      if (typeof part !== 'string') captures.set(part.name, segment);
      at += segment.length + 1;
    }
    if (this.#hasRest) captures.set('splat', path.slice(at));
    else if (at <= path.length) return null;
    return captures;
  }
}

export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
