import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type FileTable, isPage, type ReleaseView } from '../../domain/release.ts';

/** Folders of versions as Docusaurus, mike and Read the Docs lay them: at the root, below a language, below `docs/`. */
const VERSION_FOLDER =
  /^((?:[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?\/)?(?:docs\/)?)(latest|stable|next|current|main|master|dev|devel|nightly|unreleased|v?\d+(?:\.(?:\d+|x))*(?:[-.]?(?:a|b|rc|alpha|beta|dev|next)[-.]?\d*)?)\/(.+)$/;
/** Years are folders of a blog. */
const YEAR = /^(?:19|20)\d\d$/;

/** Pages of a folder that are looked for in another. */
const PAGES_COMPARED = 40;
/** In common; one may be the start page of each. */
const PAGES_MIN = 2;
const FOLDERS_MAX = 64;
const LIST = 'versions.json';
const LIST_BYTES_MAX = 256 * 1024;
/** Entries that are looked at between two turns of other requests. */
const ENTRIES_A_TURN = 2_048;

interface VersionFolder {
  /** With its last slash; empty for the root. */
  readonly container: string;
  readonly name: string;
  /** Below the folder, the first ones. */
  readonly pages: string[];
}

/** Folders of the versions that a release holds itself, so that its readers have a switcher already: `docs/next/`; empty for none. */
export async function ownVersions({ files, siteDir }: Pick<ReleaseView, 'files' | 'siteDir'>): Promise<string[]> {
  const listed = await listedByMike(files, siteDir);
  return listed.length > 1 ? listed : foundByPages(files);
}

/** mike's list, at the root: only what has its folder counts. */
async function listedByMike(files: FileTable, siteDir: string): Promise<string[]> {
  if ((files.get(LIST)?.size ?? Infinity) > LIST_BYTES_MAX) return [];
  try {
    const rows: unknown = JSON.parse(await readFile(join(siteDir, LIST), 'utf8'));
    if (!Array.isArray(rows)) return [];
    const names = rows.slice(0, FOLDERS_MAX).map((row: { readonly version?: unknown } | null) => row?.version);
    return names.flatMap((name) => (typeof name === 'string' && files.has(`${name}/index.html`) ? [`${name}/`] : []));
  } catch {
    // Some other list, or a volume that does not answer: what is served then says it.
    return [];
  }
}

/** Folders called as versions, which have the pages of one beside them, or of the folder that they are in: the current version of Docusaurus has none of its own. */
async function foundByPages(files: FileTable): Promise<string[]> {
  const folders = new Map<string, VersionFolder>();
  let turn = 0;
  for (const { path } of files.values()) {
    turn = (turn + 1) % ENTRIES_A_TURN;
    if (turn === 0) await setImmediate();
    if (!isPage(path)) continue;
    const [, container, name, page] = VERSION_FOLDER.exec(path) ?? [];
    if (container === undefined || name === undefined || page === undefined || YEAR.test(name)) continue;
    const known = folders.get(container + name);
    if (known === undefined && folders.size === FOLDERS_MAX) continue;
    const folder = known ?? { container, name, pages: [] };
    folders.set(container + name, folder);
    if (folder.pages.length < PAGES_COMPARED) folder.pages.push(page);
  }
  const all = [...folders.values()];
  return all
    .filter(({ container, name, pages }) => {
      const others = all.filter((other) => other.container === container && other.name !== name);
      return ['', ...others.map((other) => `${other.name}/`)].some((place) => {
        const shared = pages.filter((page) => files.has(container + place + page)).length;
        return shared >= PAGES_MIN && shared * 2 >= pages.length;
      });
    })
    .map(({ container, name }) => `${container}${name}/`);
}
