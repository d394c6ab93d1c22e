import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type FileTable, isPage } from '../domain/release.ts';
import { jsonOf } from '../domain/shape.ts';

/** Number of files after which the search for versions yields to the event loop, so that other requests do not wait. */
const ENTRIES_A_TURN = 2_048;

type Files = Pick<FileTable, 'has' | 'get' | 'values'>;

/** Names of version folders of Docusaurus, mike and Read the Docs, at the root, in a language folder, or in `docs/`. */
export const VERSION_NAME =
  'latest|stable|next|current|main|master|dev|devel|nightly|unreleased|v?\\d+(?:\\.(?:\\d+|x))*(?:[-.]?(?:a|b|rc|alpha|beta|dev|next)[-.]?\\d*)?';
const VERSION_FOLDER = new RegExp(`^((?:[a-z]{2,3}(?:[-_][A-Za-z]{2,4})?/)?(?:docs/)?)(${VERSION_NAME})/(.+)$`);
/** Matches years. A folder with a year as its name belongs to a blog, and is not a version. */
const YEAR = /^(?:19|20)\d\d$/;

const PAGES_COMPARED = 40;
/** Minimum number of pages that two version folders share. A single shared page can be the start page, which every folder has. */
const PAGES_MIN = 2;
const FOLDERS_MAX = 64;
const LIST = 'versions.json';
const LIST_BYTES_MAX = 256 * 1024;

type VersionFolder = { readonly container: string; readonly name: string; readonly pages: string[] };

/** Folders of the versions in a release, such as `docs/next/`. The generator of such a site also writes a version switcher. */
export async function ownVersions({
  files,
  siteDir,
}: {
  readonly files: Files;
  readonly siteDir: string;
}): Promise<string[]> {
  const listed = await listedByMike(files, siteDir);
  return listed.length > 1 ? listed : foundByPages(files);
}

/** Folders of the versions in `versions.json`, which mike writes. Ignores versions without a folder. */
async function listedByMike(files: Files, siteDir: string): Promise<string[]> {
  if ((files.get(LIST)?.size ?? Infinity) > LIST_BYTES_MAX) return [];
  // Ignore a list of versions in another format. Also ignore an unreadable volume, because docshelf reports it when it serves files.
  const rows = jsonOf(await readFile(join(siteDir, LIST), 'utf8').catch(() => ''));
  if (!Array.isArray(rows)) return [];
  const names = rows.slice(0, FOLDERS_MAX).map((row: { readonly version?: unknown } | null) => row?.version);
  return names.flatMap((name) => (typeof name === 'string' && files.has(`${name}/index.html`) ? [`${name}/`] : []));
}

/** Version folders that share pages with a sibling, or with their parent folder, where Docusaurus stores the current version. */
async function foundByPages(files: Files): Promise<string[]> {
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
