import { isPage, MANIFEST_PATH, OWN_FOLDER } from '../domain/release.ts';

interface NamedEntry {
  /** Entry name without leading `./` and trailing slash. Empty for the root of the archive. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

export interface ArchiveEntry extends NamedEntry {
  readonly size: number;
}

export interface Layout {
  readonly root: string;
  /** `_docshelf/`, or `html/_docshelf/` if somebody packed an unpacked bundle as the folder `html`. Empty if neither folder exists. */
  readonly ownRoot: string;
  /** Names of ignored files (`Start Docs.*`, serve.js, README.txt), up to `NAMED_MAX`. */
  readonly launchers: readonly string[];
  readonly pages: number;
}

export type Placement = { readonly place: 'site' | 'own'; readonly path: string };

/** Maximum names in a list such as `launchers`, because a hostile archive can contain a million launchers. */
export const NAMED_MAX = 100;

/** Files that archive programs and file managers add: AppleDouble, Finder's folders, previews and folder settings of Windows (any case). */
const BY_PRODUCT = /(?:^|\/)(?:(?:\._[^/]*|__MACOSX)(?:\/|$)|(?:\.DS_Store|Thumbs\.db|desktop\.ini)$)/i;

/** True for a file that an archive program or file manager adds. docshelf checks this file, but does not count or write it. */
export const isByProduct = (name: string): boolean => BY_PRODUCT.test(name);

const LAUNCHER = /^Start Docs\.[^/]+(?:\/|$)/;
const BESIDE_LAUNCHERS: ReadonlySet<string> = new Set(['serve.js', 'README.txt']);

export function layoutOf(all: Iterable<NamedEntry>): Layout {
  const entries: Iterable<NamedEntry> = {
    *[Symbol.iterator]() {
      for (const entry of all) if (!isByProduct(entry.name)) yield entry;
    },
  };
  const root = rootOf(entries);
  const ownRoot =
    [OWN_FOLDER, `${root}${OWN_FOLDER}`].find((own) => hasAny(entries, (entry) => isBelow(entry, own))) ?? '';
  const siteFile = ({ name, kind }: NamedEntry): string | null =>
    kind === 'file' && name.startsWith(root) && (ownRoot === '' || !name.startsWith(ownRoot))
      ? name.slice(root.length)
      : null;
  const hasLauncher = hasAny(entries, (entry) => LAUNCHER.test(siteFile(entry) ?? ''));
  const launchers: string[] = [];
  let pages = 0;
  for (const entry of entries) {
    const path = siteFile(entry);
    if (path === null) continue;
    if (!hasLauncher || !isLauncher(path)) pages += Number(isPage(path));
    else if (launchers.length < NAMED_MAX) launchers.push(entry.name);
  }
  return { root, ownRoot, launchers, pages };
}

function hasAny(entries: Iterable<NamedEntry>, isIt: (entry: NamedEntry) => boolean): boolean {
  for (const entry of entries) if (isIt(entry)) return true;
  return false;
}

export function placeOf(entry: NamedEntry, layout: Pick<Layout, 'root' | 'ownRoot' | 'launchers'>): Placement | null {
  const { name } = entry;
  if (isByProduct(name)) return null;
  if (layout.ownRoot !== '' && isBelow(entry, layout.ownRoot)) {
    const path = name.slice(layout.ownRoot.length);
    return path === '' ? null : { place: 'own', path };
  }
  const path = name.slice(layout.root.length);
  if (path === '') return null;
  return layout.launchers.length > 0 && isLauncher(path) ? null : { place: 'site', path };
}

export const nameAt = ({ place, path }: Placement, { root, ownRoot }: Pick<Layout, 'root' | 'ownRoot'>): string =>
  (place === 'own' ? ownRoot : root) + path;

const isLauncher = (path: string): boolean => LAUNCHER.test(path) || BESIDE_LAUNCHERS.has(path);

const isBelow = (entry: NamedEntry, folder: string): boolean =>
  entry.name.startsWith(folder) || (entry.kind === 'folder' && `${entry.name}/` === folder);

function rootOf(entries: Iterable<NamedEntry>): string {
  let first: string | null = null;
  let isWrapped = true;
  let hasIndex = false;
  for (const entry of entries) {
    const { name, kind } = entry;
    // A manifest at the root means that no folder wraps the site.
    if (name === MANIFEST_PATH) return '';
    if (name === '' || isBelow(entry, OWN_FOLDER)) continue;
    const top = name.split('/', 1)[0] ?? '';
    first ??= top;
    if (top !== first || (kind === 'file' && top === name)) isWrapped = false;
    if (kind === 'file' && name === `${first}/index.html`) hasIndex = true;
  }
  return isWrapped && hasIndex ? `${first}/` : '';
}
