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
  readonly #names: readonly string[];
  /** True if the pattern ends in a `*` that also matches the last slash of a path. */
  readonly #capturesSlash: boolean;

  private constructor(key: string, suffix: string | null, names: readonly string[], capturesSlash: boolean) {
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
    const names: string[] = [];
    const parts: string[] = [];
    for (const segment of path.split('/')) {
      if (!segment.startsWith(':')) parts.push(segment);
      else if (!PLACEHOLDER.test(segment)) {
        return `"${segment}" is not a placeholder, which is a whole segment such as ":name"`;
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
    if (star !== path.length - 1 || path[star - 1] !== '/')
      return `"${written}" has placeholders and a "*" that is not its last segment`;
    return new PathPattern(parts.join('/').slice(0, -1), '', names, path === decoded);
  }

  get literal(): string | null {
    return this.suffix === null && this.#names.length === 0 ? this.key : null;
  }

  /**
   * Returns the text for each placeholder, or null if the path does not match.
   * @param asked decoded path of the request, with its first slash
   */
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

  get sample(): Captures {
    return new Map([...this.#names, ...(this.suffix === null ? [] : ['splat'])].map((name) => [name, 'x']));
  }
}

function isFolderOf({ key, suffix }: Pick<PathPattern, 'key' | 'suffix'>, path: string): boolean {
  if (suffix !== '' || key === '/' || !key.endsWith('/')) return false;
  return followKey(key.slice(0, -1), path, 0) === path.length;
}

function followKey(key: string, path: string, start: number, segments?: string[]): number {
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

export const withoutSlash = (path: string): string =>
  path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;

/** Costs of a search for rules, in units of `Work`: one cost per search, one per visited node, and one per found rule. */
const LOOKUP_UNITS = 500;
const VISIT_UNITS = 60;
const FOUND_UNITS = 24;
/** Maximum rules with the same pattern. A request rarely reaches a later rule. */
const SAME_MAX = 256;

const ANY_CODE = ANY.charCodeAt(0);

class TrieNode {
  label: string;
  /** Child nodes, by the UTF-16 code of the first character of their label. */
  children: Map<number, TrieNode> | null = null;
  any: TrieNode | null = null;
  whole: number[] | null = null;
  beginnings: number[] | null = null;
  /** Trie of suffixes for the patterns whose `key` ends at this node. The suffixes are reversed. */
  ends: TrieNode | null = null;

  constructor(label: string) {
    this.label = label;
  }

  add(to: 'whole' | 'beginnings', rule: number): boolean {
    const known = this[to];
    if (known === null) this[to] = [rule];
    else if (known.length < SAME_MAX) known.push(rule);
    else return false;
    return true;
  }

  childAt(code: number): TrieNode | undefined {
    return code === ANY_CODE ? (this.any ?? undefined) : this.children?.get(code);
  }

  adopt(child: TrieNode): void {
    const code = child.label.charCodeAt(0);
    if (code === ANY_CODE) this.any = child;
    else {
      this.children ??= new Map();
      this.children.set(code, child);
    }
  }

  descend(key: string): TrieNode {
    let node: TrieNode = this;
    let at = 0;
    while (at < key.length) {
      const child = node.childAt(key.charCodeAt(at));
      if (child === undefined) {
        const leaf = new TrieNode(key.slice(at));
        node.adopt(leaf);
        return leaf;
      }
      const { label } = child;
      let shared = 1;
      while (shared < label.length && label.charCodeAt(shared) === key.charCodeAt(at + shared)) shared += 1;
      at += shared;
      if (shared === label.length) node = child;
      else {
        const fork = new TrieNode(label.slice(0, shared));
        child.label = label.slice(shared);
        fork.adopt(child);
        node.adopt(fork);
        node = fork;
      }
    }
    return node;
  }
}

/**
 * Index that finds the rules for a path. The time depends on the length of the path and on the rules that match its beginning,
 * not on the number of all rules.
 */
export class RuleTrie<Rule extends { readonly pattern: PathPattern }> {
  readonly rules: Rule[] = [];
  readonly #root = new TrieNode('');

  /** Adds a rule. @returns the end of an error message if docshelf rejects the rule, else null */
  add(rule: Rule): string | null {
    const { key, suffix } = rule.pattern;
    const node = this.#root.descend(key);
    const index = this.rules.length;
    let hasRoom: boolean;
    if (suffix === null) hasRoom = node.add('whole', index);
    else if (suffix === '') {
      hasRoom = node.add('beginnings', index);
      if (hasRoom && key !== '/' && key.endsWith('/')) this.#root.descend(key.slice(0, -1)).add('whole', index);
    } else {
      node.ends ??= new TrieNode('');
      hasRoom = node.ends.descend(reversed(suffix)).add('whole', index);
    }
    if (!hasRoom) return `repeats the path of ${SAME_MAX} rules before it`;
    this.rules.push(rule);
    return null;
  }

  /**
   * @param asked decoded path of the request, with its first slash
   * @returns indexes into `rules` in ascending order, or null if the budget of `work` is spent
   */
  find(asked: string, work: Work): readonly number[] | null {
    if (!work.spend(LOOKUP_UNITS)) return null;
    const path = withoutSlash(asked);
    const found: number[] = [];
    let backwards: string | null = null;
    const isDone = walk(this.#root, path, work, (node, at) => {
      if (at === path.length && node.whole !== null && !take(node.whole, found, work)) return false;
      if (node.beginnings !== null && !take(node.beginnings, found, work)) return false;
      if (node.ends === null) return true;
      backwards ??= reversed(path);
      const room = path.length - at;
      return walk(
        node.ends,
        backwards,
        work,
        ({ whole }, end) => whole === null || end > room || take(whole, found, work),
      );
    });
    if (!isDone) return null;
    return found.length < 2 ? found : Array.from(Uint32Array.from(found).sort());
  }
}

function take(numbers: readonly number[], into: number[], work: Work): boolean {
  if (!work.spend(numbers.length * FOUND_UNITS)) return false;
  for (const number of numbers) into.push(number);
  return true;
}

function walk(root: TrieNode, text: string, work: Work, visit: (node: TrieNode, at: number) => boolean): boolean {
  const nodes = [root];
  const places = [0];
  for (let node = nodes.pop(); node !== undefined; node = nodes.pop()) {
    const at = places.pop() ?? 0;
    if (!work.spend(VISIT_UNITS) || !visit(node, at)) return false;
    const code = text.charCodeAt(at);
    const written = code === ANY_CODE ? undefined : node.children?.get(code);
    for (let child = written ?? node.any; child !== null; child = child === written ? node.any : null) {
      const end = followKey(child.label, text, at);
      if (!work.spend(end === -1 ? VISIT_UNITS : end - at)) return false;
      if (end === -1) continue;
      nodes.push(child);
      places.push(end);
    }
  }
  return true;
}

const reversed = (text: string): string => text.split('').reverse().join('');
