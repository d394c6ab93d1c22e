import { isPage, MANIFEST_PATH, OWN_FOLDER } from '../domain/release.ts';

/** The site's place in its archive (contract section 3). Pure: it reads names and kinds only. */

export interface NamedEntry {
  /** Canonical: no leading `./`, no trailing slash; the archive's root is the empty name. */
  readonly name: string;
  readonly kind: 'file' | 'folder';
}

export interface Layout {
  /** The one folder that wraps the site, `html/`, or empty. */
  readonly root: string;
  /** `_docshelf/` or empty; `html/_docshelf/` where somebody wrapped an unpacked bundle. */
  readonly ownRoot: string;
  /** Names of the files that are left out of the site (layout B). */
  readonly launchers: readonly string[];
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
  const paths = entries
    .filter((entry) => entry.kind === 'file' && entry.name.startsWith(root))
    .filter((entry) => ownRoot === '' || !isBelow(entry, ownRoot))
    .map((entry) => entry.name.slice(root.length));
  const launchers = new Set(paths.some((path) => LAUNCHER.test(path)) ? paths.filter(isLauncher) : []);
  return {
    root,
    ownRoot,
    launchers: Array.from(launchers, (path) => root + path),
    pages: paths.filter((path) => isPage(path) && !launchers.has(path)).length,
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
  const site = entries.filter((entry) => entry.name !== '' && !isBelow(entry, OWN_FOLDER));
  if (site.some(({ name, kind }) => kind === 'file' && !name.includes('/'))) return '';
  const [only, ...others] = new Set(site.map(({ name }) => name.split('/', 1)[0]));
  const hasIndex = entries.some((entry) => entry.kind === 'file' && entry.name === `${only}/index.html`);
  return hasIndex && others.length === 0 ? `${only}/` : '';
}
