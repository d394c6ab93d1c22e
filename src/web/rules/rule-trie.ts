import { ANY, followKey, type PathPattern, withoutSlash } from './path-pattern.ts';
import type { Work } from './work.ts';

/** Units of a look-up, of a visit of a node, and of a rule that is found. */
const LOOKUP_UNITS = 500;
const VISIT_UNITS = 60;
const FOUND_UNITS = 24;
/** Rules of one pattern. A request would reach the next ones only if all of these led nowhere. */
const SAME_MAX = 256;

const ANY_CODE = ANY.charCodeAt(0);

class TrieNode {
  /** Part of a key, from the end of the parent's part. */
  label: string;
  /** By the first characters of their labels. */
  children: Map<number, TrieNode> | null = null;
  /** The child whose label begins with `ANY`. */
  any: TrieNode | null = null;
  /** Numbers of rules for the path that ends here. */
  whole: number[] | null = null;
  /** Numbers of rules for each path that begins so. */
  beginnings: number[] | null = null;
  /** Ends of paths that begin so, each reversed. */
  ends: TrieNode | null = null;

  constructor(label: string) {
    this.label = label;
  }

  /** @returns false if there is no more room for it */
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

  /** The node at the end of a key below this one. */
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

/** Rules by their paths. A look-up costs work by the length of the path, and by the rules that fit beginnings of it. */
export class RuleTrie {
  readonly #root = new TrieNode('');
  #count = 0;

  /** Adds the pattern of the next rule. @returns null, or why it has no room: the rest of a sentence */
  add({ key, suffix }: PathPattern): string | null {
    const node = this.#root.descend(key);
    const index = this.#count;
    let hasRoom: boolean;
    if (suffix === null) hasRoom = node.add('whole', index);
    else if (suffix === '') {
      hasRoom = node.add('beginnings', index);
      // `/a/*` is for `/a`, too.
      if (hasRoom && key !== '/' && key.endsWith('/')) this.#root.descend(key.slice(0, -1)).add('whole', index);
    } else {
      node.ends ??= new TrieNode('');
      hasRoom = node.ends.descend(reversed(suffix)).add('whole', index);
    }
    if (!hasRoom) return `repeats the path of ${SAME_MAX} rules before it`;
    this.#count += 1;
    return null;
  }

  /**
   * Numbers of the rules for a path, rising.
   *
   * @param asked decoded, with its first slash
   * @returns null if the work is used up: then no rule applies
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

/** Visits each node whose key a text begins with. @returns false if a visit did, or the work is used up */
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

/** By UTF-16 code units: a reversed text is only compared with others. */
function reversed(text: string): string {
  return text.split('').reverse().join('');
}
