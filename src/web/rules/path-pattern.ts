import { percentDecode } from '../percent-decode.ts';

/** Text that the path of a request has for `:name`, and for `*`, which is `splat`. */
export type Captures = ReadonlyMap<string, string>;

const PLACEHOLDER = /^:[A-Za-z]\w*$/;
/** In a key, one whole segment of any text. A pattern has no other `*` left. */
export const ANY = '*';

/**
 * The path of a rule: segments, of which `:name` stands for one and `*` at the end for the rest; or one `*` in a path without
 * placeholders. A last slash makes no difference.
 */
export class PathPattern {
  /** The path up to its `*`, with `*` in place of each placeholder. */
  readonly key: string;
  /** Text after a `*`. Empty if the `*` ends the path, null if the pattern has no `*`. */
  readonly suffix: string | null;
  readonly #names: readonly string[];
  /** A `*` at the end captures the last slash of a path, too. */
  readonly #capturesSlash: boolean;

  private constructor(key: string, suffix: string | null, names: readonly string[], capturesSlash: boolean) {
    this.key = key;
    this.suffix = suffix;
    this.#names = names;
    this.#capturesSlash = capturesSlash;
  }

  /** @returns the rest of a sentence if it cannot be read */
  static parse(written: string): PathPattern | string {
    if (!written.startsWith('/')) return `"${written}" is no path from the root of the site`;
    const decoded = percentDecode(written);
    if (decoded === null) return `"${written}" holds a percent sign that does not stand for a character`;
    if (/[?#\\]|\/\//.test(decoded)) return `"${written}" is more than a path`;
    const path = withoutSlash(decoded);
    const star = path.indexOf('*');
    if (star !== path.lastIndexOf('*')) return `"${written}" has several "*"; one is understood`;
    const names: string[] = [];
    const parts: string[] = [];
    for (const segment of path.split('/')) {
      if (!segment.startsWith(':')) parts.push(segment);
      else if (!PLACEHOLDER.test(segment)) {
        return `"${segment}" is no placeholder; one is a whole segment such as ":name"`;
      } else {
        names.push(segment.slice(1));
        parts.push(ANY);
      }
    }
    if (star === -1) return new PathPattern(parts.join('/'), null, names, false);
    if (names.length === 0) {
      const suffix = path.slice(star + 1);
      return new PathPattern(path.slice(0, star), suffix, names, suffix === '' && path === decoded);
    }
    if (star !== path.length - 1 || path[star - 1] !== '/') {
      return `"${written}" has placeholders and a "*" that is not its last segment`;
    }
    return new PathPattern(parts.join('/').slice(0, -1), '', names, path === decoded);
  }

  /** Null if the pattern stands for more than one path. */
  get literal(): string | null {
    return this.suffix === null && this.#names.length === 0 ? this.key : null;
  }

  /** @param asked decoded, with its first slash */
  match(asked: string): Captures | null {
    const path = withoutSlash(asked);
    const segments: string[] = [];
    const isFolder = isFolderOf(this, path);
    const end = followKey(isFolder ? this.key.slice(0, -1) : this.key, path, 0, segments);
    if (end === -1 || (this.suffix === null && end !== path.length)) return null;
    const captures = new Map<string, string>();
    for (const [at, name] of this.#names.entries()) captures.set(name, segments[at] ?? '');
    if (this.suffix === null) return captures;
    if (isFolder) return captures.set('splat', '');
    const splatEnd = path.length - this.suffix.length;
    if (splatEnd < end || !path.endsWith(this.suffix)) return null;
    const splat = path.slice(end, splatEnd);
    const hasSlash = this.#capturesSlash && splat !== '' && path !== asked;
    return captures.set('splat', hasSlash ? `${splat}/` : splat);
  }

  /** The values with which `match` would give a path of its own, for a look at what a rule does. */
  get sample(): Captures {
    return new Map([...this.#names, ...(this.suffix === null ? [] : ['splat'])].map((name) => [name, 'x']));
  }
}

/** `/a/*` is for `/a`, too. */
function isFolderOf({ key, suffix }: Pick<PathPattern, 'key' | 'suffix'>, path: string): boolean {
  if (suffix !== '' || key === '/' || !key.endsWith('/')) return false;
  return followKey(key.slice(0, -1), path, 0) === path.length;
}

/** Follows a key, or a part of one, through a path. @returns its end in the path, or -1 if the path differs */
export function followKey(key: string, path: string, start: number, segments?: string[]): number {
  let at = start;
  let keyAt = 0;
  for (;;) {
    const any = key.indexOf(ANY, keyAt);
    const written = keyAt === 0 && any === -1 ? key : key.slice(keyAt, any === -1 ? key.length : any);
    if (!path.startsWith(written, at)) return -1;
    at += written.length;
    if (any === -1) return at;
    const slash = path.indexOf('/', at);
    const end = slash === -1 ? path.length : slash;
    if (end === at) return -1;
    segments?.push(path.slice(at, end));
    at = end;
    keyAt = any + 1;
  }
}

export function withoutSlash(path: string): string {
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}
