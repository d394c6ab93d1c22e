import { percentDecode } from '../escape.ts';
import type { Work } from './rule-file.ts';

/** Text that each `:name` placeholder of a pattern matched. The text that the pattern's `*` matched has the name `splat`. */
export type Captures = ReadonlyMap<string, string>;

export const namesHost = (written: string): string =>
  `"${written}" names a host, but a rule of docshelf begins with a path`;

const PLACEHOLDER = /^:[A-Za-z]\w*$/;
/** Character that stands for a `:name` placeholder in the `key` of a pattern. The `key` contains no `*` of the pattern itself. */
const ANY = '*';

/**
 * Path pattern of a rule. `:name` matches one segment, and `*` matches the rest of the path, or any text before a suffix. A
 * slash at the end makes no difference.
 */
export class PathPattern {
  /** Start of the pattern, up to its `*` if it has one. Contains `ANY` instead of each `:name` placeholder. */
  readonly key: string;
  /** Text after the `*`. Empty if the `*` ends the pattern, null if the pattern has no `*`. */
  readonly suffix: string | null;
  /** Index of the segment of each placeholder. */
  readonly #names: ReadonlyMap<string, number>;
  /** True if the pattern ends in a `*` that also matches the last slash of a path. */
  readonly #capturesSlash: boolean;

  private constructor(key: string, suffix: string | null, names: ReadonlyMap<string, number>, capturesSlash: boolean) {
    this.key = key;
    this.suffix = suffix;
    this.#names = names;
    this.#capturesSlash = capturesSlash;
  }

  static parse(written: string): PathPattern | string {
    if (!written.startsWith('/')) return `"${written}" is not a path from the root of the site`;
    const decoded = percentDecode(written);
    if (decoded === null) return `"${written}" contains a percent sign that encodes no character`;
    if (/[?#\\]|\/\//.test(decoded))
      return `"${written}" contains a query, a fragment, a backslash or two slashes in sequence`;
    const path = withoutSlash(decoded);
    const star = path.indexOf('*');
    if (star !== path.lastIndexOf('*')) return `"${written}" has several "*", but only one is allowed`;
    const names = new Map<string, number>();
    const parts: string[] = [];
    for (const [at, segment] of path.split('/').entries()) {
      if (!segment.startsWith(':')) parts.push(segment);
      else if (!PLACEHOLDER.test(segment)) {
        return `"${segment}" is not a placeholder, which is a whole segment such as ":name"`;
      } else {
        names.set(segment.slice(1), at);
        parts.push(ANY);
      }
    }
    if (star === -1) return new PathPattern(parts.join('/'), null, names, false);
    if (names.size === 0) {
      const suffix = path.slice(star + 1);
      return new PathPattern(path.slice(0, star), suffix, names, suffix === '' && path === decoded);
    }
    if (star !== path.length - 1 || path[star - 1] !== '/')
      return `"${written}" has placeholders and a "*" that is not its last segment`;
    return new PathPattern(parts.join('/').slice(0, -1), '', names, path === decoded);
  }

  /**
   * Returns the text for each placeholder.
   * @param asked decoded path of a request that the pattern matches, with its first slash
   */
  captures(asked: string): Captures {
    const path = withoutSlash(asked);
    const segments = path.split('/');
    const captures = new Map<string, string>();
    for (const [name, at] of this.#names) captures.set(name, segments[at] ?? '');
    if (this.suffix === null) return captures;
    const before =
      this.#names.size === 0 ? this.key : `${segments.slice(0, this.key.split('/').length - 1).join('/')}/`;
    const splat = path.slice(before.length, path.length - this.suffix.length);
    const hasSlash = this.#capturesSlash && splat !== '' && path !== asked;
    return captures.set('splat', hasSlash ? `${splat}/` : splat);
  }

  get sample(): Captures {
    return new Map([...this.#names.keys(), ...(this.suffix === null ? [] : ['splat'])].map((name) => [name, 'x']));
  }
}

export const withoutSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;

/** Costs of a search for rules, in units of `Work`: per search, per skipped group, per searched group, and per found rule. */
const SEARCH_UNITS = 500;
const SKIP_UNITS = 3;
const GROUP_UNITS = 60;
const FOUND_UNITS = 24;
/** Maximum rules with the same pattern. A request rarely reaches a later rule. */
const SAME_MAX = 256;

/**
 * Rules whose patterns have the same form, and differ only in their texts. One look-up finds all rules of the group that match a
 * path.
 */
interface RuleGroup {
  /** Returns the key in `byKey` of the rules that match the path. Null if no rule of the group can match. */
  readonly keyFor: (path: string, segments: readonly string[]) => string | null;
  /** Indexes in `RuleIndex.rules`, by the key that `keyFor` returns. */
  readonly byKey: Map<string, number[]>;
}

/** Finds the rules that match a path. Most sites have only a few groups of rules. */
export class RuleIndex<Rule extends { readonly pattern: PathPattern }> {
  readonly rules: Rule[] = [];
  readonly #groups = new Map<string, RuleGroup>();

  /** Adds a rule. @returns the end of an error message if docshelf rejects the rule, else null */
  add(rule: Rule): string | null {
    const { name, key, keyFor } = placeOf(rule.pattern);
    const group = this.#groups.get(name) ?? { keyFor, byKey: new Map() };
    const same = group.byKey.get(key) ?? [];
    if (same.length === SAME_MAX) return `repeats the path of ${SAME_MAX} rules before it`;
    this.#groups.set(name, group);
    group.byKey.set(key, same);
    same.push(this.rules.length);
    this.rules.push(rule);
    return null;
  }

  /**
   * @param asked decoded path of the request, with its first slash
   * @returns indexes into `rules` in ascending order, or null if the budget of `work` is spent
   */
  find(asked: string, work: Work): readonly number[] | null {
    if (!work.spend(SEARCH_UNITS)) return null;
    const path = withoutSlash(asked);
    const segments = path.split('/');
    const found: number[] = [];
    for (const { keyFor, byKey } of this.#groups.values()) {
      const key = keyFor(path, segments);
      const same = key === null ? [] : (byKey.get(key) ?? []);
      const units = key === null ? SKIP_UNITS : GROUP_UNITS + key.length + same.length * FOUND_UNITS;
      if (!work.spend(units)) return null;
      found.push(...same);
    }
    return found.sort((a, b) => a - b);
  }
}

/** Returns the group of a pattern and its key in this group. */
function placeOf({ key, suffix }: PathPattern): { name: string; key: string; keyFor: RuleGroup['keyFor'] } {
  const isOpen = suffix === '' && key.endsWith('/');
  if (suffix !== null && !isOpen) {
    const keyFor = (path: string): string | null => {
      if (path.length < key.length + suffix.length) return null;
      return path.slice(0, key.length) + ANY + path.slice(path.length - suffix.length);
    };
    return { name: `${key.length} ${suffix.length}`, key: key + ANY + suffix, keyFor };
  }
  const path = isOpen ? key.slice(0, -1) : key;
  const shape = path.split('/').map((segment) => (segment === ANY ? ANY : ''));
  const keyFor = (_: string, segments: readonly string[]): string | null => {
    if (segments.length < shape.length || (segments.length > shape.length && !isOpen)) return null;
    // A placeholder does not match the empty segment of the path `/`.
    return shape.map((mark, at) => (segments[at] === '' ? '' : mark || segments[at])).join('/');
  };
  return { name: `${shape.join('/')} ${isOpen}`, key: path, keyFor };
}
