import { isPage, MANIFEST_PATH, OWN_FOLDER } from '../domain/release.ts';

/** The site's place in its archive (contract section 3). Pure: it reads names and kinds only. */

export interface NamedEntry {
  /** Canonical: no leading `./`, no trailing slash. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

export interface Layout {
  /** The one wrapping folder, `html/`, or empty. */
  readonly root: string;
  /**
   * Docshelf's own folder, `_docshelf/` or `html/_docshelf/`, or empty where the archive has none. The
   * exporter writes it at the archive's root; who wraps an unpacked bundle into a folder moves it there.
   */
  readonly ownRoot: string;
  /** Names of the files that are left out of the site. */
  readonly launchers: readonly string[];
  /** Pages in the site. */
  readonly pages: number;
}

/** An entry's destination: the site or docshelf's own folder. `path` is relative to it. */
export interface Placement {
  readonly place: 'site' | 'own';
  readonly path: string;
}

const LAUNCHER = /^Start Docs\.[^/]+(?:\/|$)/;
const BESIDE_LAUNCHERS: ReadonlySet<string> = new Set(['serve.js', 'README.txt']);

export function layoutOf(entries: readonly NamedEntry[]): Layout {
  const root = rootOf(entries);
  const ownRoot =
    [OWN_FOLDER, `${root}${OWN_FOLDER}`].find((own) => entries.some((entry) => isBelow(entry, own))) ?? '';
  const site = entries.filter((entry) => entry.kind === 'file' && entry.name.startsWith(root));
  const sitePaths = site
    .filter((entry) => ownRoot === '' || !isBelow(entry, ownRoot))
    .map((entry) => entry.name.slice(root.length));
  const hasLaunchers = sitePaths.some((path) => LAUNCHER.test(path));
  const launchers = hasLaunchers ? sitePaths.filter(isLauncher) : [];
  const leftOut = new Set(launchers);
  return {
    root,
    ownRoot,
    launchers: launchers.map((path) => root + path),
    pages: sitePaths.filter((path) => isPage(path) && !leftOut.has(path)).length,
  };
}

/** The destination of an entry; null for the wrapping folder itself, the archive's root and launchers. */
export function placeOf(entry: NamedEntry, layout: Pick<Layout, 'root' | 'ownRoot' | 'launchers'>): Placement | null {
  const { name } = entry;
  if (layout.ownRoot !== '' && isBelow(entry, layout.ownRoot)) {
    const path = name.slice(layout.ownRoot.length);
    return path === '' ? null : { place: 'own', path };
  }
  const path = name.slice(layout.root.length);
  if (path === '') return null;
  return layout.launchers.length > 0 && isLauncher(path) ? null : { place: 'site', path };
}

function isLauncher(path: string): boolean {
  return LAUNCHER.test(path) || BESIDE_LAUNCHERS.has(path);
}

function isBelow(entry: NamedEntry, folder: string): boolean {
  return entry.name.startsWith(folder) || (entry.kind === 'folder' && `${entry.name}/` === folder);
}

function rootOf(entries: readonly NamedEntry[]): string {
  // The manifest names every file by its path from here: what it describes is wrapped in nothing.
  if (entries.some(({ name }) => name === MANIFEST_PATH)) return '';
  const tops = new Set<string>();
  for (const entry of entries) {
    if (entry.name === '' || isBelow(entry, OWN_FOLDER)) continue;
    const slash = entry.name.indexOf('/');
    if (slash < 0 && entry.kind === 'file') return '';
    tops.add(slash < 0 ? entry.name : entry.name.slice(0, slash));
    if (tops.size > 1) return '';
  }
  const [only] = tops;
  if (only === undefined) return '';
  const hasIndex = entries.some((entry) => entry.kind === 'file' && entry.name === `${only}/index.html`);
  return hasIndex ? `${only}/` : '';
}
