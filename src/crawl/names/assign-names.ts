import { hash } from 'node:crypto';
import { type NaturalName, naturalName, pathOf } from './file-name.ts';

/** What an address answered. */
export interface AnsweredUrl {
  /** Absolute, without fragment. */
  readonly url: string;
  /** Media type without parameters, in lower case. */
  readonly type: string;
  /** Digest of the content. */
  readonly sha256: string;
}

interface Named extends AnsweredUrl {
  readonly name: NaturalName;
  readonly query: string;
}

/** A query that makes a readable name. */
const PLAIN_QUERY = /^[A-Za-z0-9_=.,~+&-]{1,60}$/;

/**
 * Gives every address the path of its file. The same set gives the same names, in whatever order it comes.
 *
 * Of addresses that differ in their query alone, the shortest has the plain name and the others carry their query:
 * `list.html`, `list@page=2.html`. Addresses with one name and one content share a file (`/` and `/index.html`). Names that
 * a file system would take for one (case, Unicode form), and a file where others need a folder, are told apart by a digest of
 * the address.
 *
 * @param taken paths that are not to be had
 */
export function assignNames(
  answers: Iterable<AnsweredUrl>,
  ownOrigin: string,
  taken: Iterable<string> = [],
): Map<string, string> {
  const groups = new Map<string, Named[]>();
  for (const answer of answers) {
    const url = new URL(answer.url);
    const name = naturalName(url, answer.type, ownOrigin);
    const key = fold(pathOf(name));
    const named = { ...answer, name, query: url.search.slice(1) };
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [named]);
    else group.push(named);
  }
  const names = new Names(taken, groups.keys());
  for (const [, group] of [...groups].sort(([a], [b]) => (a < b ? -1 : 1))) names.addGroup(group.sort(byPreference));
  return names.byUrl;
}

class Names {
  readonly byUrl = new Map<string, string>();
  readonly #taken: Set<string>;
  /** Folders that some name needs. */
  readonly #folders = new Set<string>();

  /** @param wanted names that are going to be asked for, folded: each keeps its folders */
  constructor(taken: Iterable<string>, wanted: Iterable<string>) {
    this.#taken = new Set(Array.from(taken, fold));
    for (const path of this.#taken) this.#addFolders(path);
    for (const path of wanted) this.#addFolders(path);
  }

  /** @param group of one natural name, the preferred one first */
  addGroup(group: readonly Named[]): void {
    const pathByContent = new Map<string, string>();
    for (const named of group) {
      const content = `${pathOf(named.name)} ${named.sha256}`;
      let path = pathByContent.get(content);
      if (path === undefined) {
        path = this.#freePath(named, pathByContent.size === 0);
        pathByContent.set(content, path);
      }
      this.byUrl.set(named.url, path);
    }
  }

  #freePath({ name, query, url }: Named, isFirst: boolean): string {
    const natural = isFirst || query === '' ? '' : querySuffix(query);
    for (const digits of [0, 8, 16, 64]) {
      const suffix = digits === 0 ? natural : `-${hash('sha256', url).slice(0, digits)}`;
      const path = pathOf(name, suffix);
      const folded = fold(path);
      if (this.#taken.has(folded) || this.#folders.has(folded)) continue;
      this.#taken.add(folded);
      return path;
    }
    throw new Error(`no name is left for ${url}`);
  }

  #addFolders(foldedPath: string): void {
    for (let at = foldedPath.lastIndexOf('/'); at > 0; at = foldedPath.lastIndexOf('/', at - 1)) {
      const folder = foldedPath.slice(0, at);
      if (this.#folders.has(folder)) return;
      this.#folders.add(folder);
    }
  }
}

/** Without a query first, then the shorter one. */
function byPreference(a: Named, b: Named): number {
  return a.query.length - b.query.length || a.url.length - b.url.length || (a.url < b.url ? -1 : 1);
}

function querySuffix(query: string): string {
  return PLAIN_QUERY.test(query) ? `@${query}` : `@${hash('sha256', query).slice(0, 12)}`;
}

/** What a file system that folds case and Unicode forms makes of a path. */
function fold(path: string): string {
  return path.normalize('NFC').toUpperCase().toLowerCase();
}
