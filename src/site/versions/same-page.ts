import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { type FileEntry, type FileTable, isPage, type ReleaseView } from '../../domain/release.ts';
import { mapAhead } from '../../files/lanes.ts';
import { pageText } from '../../web/media-type.ts';
import { isWithheld, resolvePath } from '../../web/resolve.ts';
import { readHead } from '../first-pages.ts';

const PAGE_NAME = /(?:(?:^|(?<=\/))index)?\.(?:html|htm|xhtml)$/i;
const NOT_FOUND = /(?:^|\/)404(?:\.html|\/index\.html)$/;

/**
 * Maximum titles to read, 0.3 ms each. docshelf reads titles only of pages whose address the other version lacks. Versions with
 * more of these pages have different structures.
 */
const TITLES_MAX = 2_000;
const READS_AT_ONCE = 8;
/** Number of file table entries to read before docshelf handles other requests. */
const ENTRIES_A_TURN = 2_048;

type Titles = ReadonlyMap<string, readonly string[]>;

export class SamePages {
  readonly #known = new WeakMap<ReleaseView, WeakMap<ReleaseView, Promise<Titles>>>();

  /**
   * Finds the page at the same address, or else a page with the same title, or else the nearest parent folder.
   * @param path decoded path in `from`, without a leading slash @returns path in `to`; empty for the root
   */
  async find(path: string, from: ReleaseView, to: ReleaseView): Promise<string> {
    const own = addressOf(path, to) ?? addressOf(path.replace(PAGE_NAME, ''), to);
    if (own !== null) return own;
    const titled = await this.#titled(path, from, to).catch(() => null);
    return titled ?? nearestParent(path, to);
  }

  async #titled(path: string, from: ReleaseView, to: ReleaseView): Promise<string | null> {
    const found = resolvePath(from.files, path, 'never');
    const entry = found.kind === 'file' ? from.files.get(found.path) : undefined;
    const title = entry === undefined || !isPage(entry.path) ? null : await titleOf(entry, from);
    if (title === null) return null;
    const pages = (await this.#titlesOf(from, to)).get(title) ?? [];
    const [first, second] = pages
      .map((page) => ({ page, shared: sharedNames(page, path) }))
      .sort((a, b) => b.shared - a.shared);
    // If two pages with the same title are equally near to the path, return neither.
    if (first === undefined || first.shared === second?.shared) return null;
    return readerAddress(first.page, path, to);
  }

  #titlesOf(from: ReleaseView, to: ReleaseView): Promise<Titles> {
    const ofFrom = this.#known.get(from) ?? new WeakMap<ReleaseView, Promise<Titles>>();
    this.#known.set(from, ofFrom);
    const titles = ofFrom.get(to) ?? readTitles(from.files, to);
    ofFrom.set(to, titles);
    // Forget a failed read, so that the next call tries again.
    titles.catch(() => ofFrom.delete(to));
    return titles;
  }
}

/** Returns the address with or without a trailing slash, as the release requires. Null if the release has no such page. */
function addressOf(path: string, { files, trailingSlash }: ReleaseView): string | null {
  const found = resolvePath(files, path, trailingSlash);
  if (found.kind === 'file') return path;
  if (found.kind === 'missing') return null;
  return path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
}

function nearestParent(path: string, to: ReleaseView): string {
  const names = path.split('/');
  if (names.at(-1) === '') names.pop();
  while (names.length > 1) {
    names.pop();
    const address = addressOf(names.join('/'), to);
    if (address !== null) return address;
  }
  return '';
}

/** Returns the address of a page. Keeps its extension if the requested path has one, but not for an index page. */
function readerAddress(page: string, asked: string, to: ReleaseView): string {
  const bare = page.replace(PAGE_NAME, '').replace(/\/$/, '');
  return (/\.x?html?$/i.test(asked) && !/(?:^|\/)index\.\w+$/i.test(page) ? page : addressOf(bare, to)) ?? page;
}

async function readTitles(former: FileTable, release: ReleaseView): Promise<Titles> {
  const pages: FileEntry[] = [];
  let turn = 0;
  for (const entry of release.files.values()) {
    turn = (turn + 1) % ENTRIES_A_TURN;
    if (turn === 0) await setImmediate();
    const { path } = entry;
    if (!isPage(path) || former.has(path) || NOT_FOUND.test(path) || isWithheld(path)) continue;
    const bare = path.replace(PAGE_NAME, '').replace(/\/$/, '');
    if (resolvePath(former, bare, 'never').kind !== 'missing') continue;
    if (pages.push(entry) === TITLES_MAX) break;
  }
  const byTitle = new Map<string, string[]>();
  const read = async (entry: FileEntry) => ({ path: entry.path, title: await titleOf(entry, release) });
  for await (const { path, title } of mapAhead(pages, READS_AT_ONCE, read)) {
    if (title !== null) byTitle.set(title, [...(byTitle.get(title) ?? []), path]);
  }
  return byTitle;
}

async function titleOf({ path, type }: FileEntry, { siteDir }: ReleaseView): Promise<string | null> {
  const { readFirstPage } = await import('../../web/first-page.ts');
  return readFirstPage(pageText(await readHead(join(siteDir, path)), type)).title;
}

/** Counts the path segments that both paths share at the start, plus those that they share at the end. */
function sharedNames(page: string, asked: string): number {
  const [names, others] = [page, asked].map((path) => path.replace(PAGE_NAME, '').split('/').filter(Boolean)) as [
    string[],
    string[],
  ];
  const atEnds = (one: string[], other: string[]): number => {
    const differs = one.findIndex((name, at) => name !== other[at]);
    return differs === -1 ? one.length : differs;
  };
  return atEnds(names, others) + atEnds(names.toReversed(), others.toReversed());
}
