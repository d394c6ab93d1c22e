import { setImmediate } from 'node:timers/promises';
import { type FileTable, isPage, type TrailingSlash } from '../domain/release.ts';
import { isAssetPath } from '../web/media-type.ts';
import { type Mount, rebase } from '../web/mount/base-path.ts';
import { findFile, isInternalPath, pageStem } from '../web/resolve.ts';
import {
  type MatchedRule,
  REDIRECTS_MAX,
  type RedirectRules,
  type RedirectTarget,
  Work,
  withoutSlash,
} from '../web/rules/index.ts';

const PAGE_EXTENSIONS = ['.html', '.htm', '.xhtml'];
const PAGE_EXTENSION = /\.(?:html|htm|xhtml)$/i;
const INDEX_NAME = /(?:^|\/)index$/;
const TWIN = '.md';

type Paths = Pick<FileTable, 'has'>;

/**
 * Page of a Markdown path: `guide/start.md` and `guide/start.html.md` (llmstxt.org) belong to `guide/start.html`, `guide.md` and
 * `guide/index.md` to `guide/index.html`.
 */
export function pageOfTwin(files: Paths, path: string): string | null {
  if (!path.endsWith(TWIN)) return null;
  const stem = path.slice(0, -TWIN.length);
  if (stem === '' || stem.endsWith('/')) return null;
  if (PAGE_EXTENSION.test(stem)) return files.has(stem) ? stem : null;
  const names = [...PAGE_EXTENSIONS, ...PAGE_EXTENSIONS.map((extension) => `/index${extension}`)];
  return names.map((name) => stem + name).find((page) => files.has(page)) ?? null;
}

export function ownTwin(files: Paths, page: string): string | null {
  const stem = page.replace(PAGE_EXTENSION, '');
  const folder = stem.replace(INDEX_NAME, '');
  const paths = [stem + TWIN, page + TWIN, ...(folder === stem || folder === '' ? [] : [folder + TWIN])];
  return paths.find((path) => files.has(path)) ?? null;
}

export const twinOf = (page: string): string => page.replace(PAGE_EXTENSION, '') + TWIN;

const EXTENSION = /\.x?html?$/i;
/** Cost of a look-up of a file in all its forms, and of each character of its path. */
const LOOKUP_UNITS = 300;
const LOOKUP_CHARACTER_UNITS = 16;
/** Budget for a list of pages: a second, in turns of a millisecond. If it is spent, the list omits the last pages. */
const LIST_UNITS = 1_000_000_000;
const TURN_UNITS = 1_000_000;
/** Cost of a page besides its rules. */
const PAGE_UNITS = 1_000;

/**
 * `page`: null for the site's page for missing paths. `moved`: null for a path that has grown longer than an address.
 * `isBySlash`: moved to the form of the same address with or without its last slash, and by no rule.
 */
type Led = { readonly page: string | null } | { readonly moved: string | null; readonly isBySlash?: true };

/** The page at which a browser ends, whatever host it requests: rules to the same path on another host are ignored. */
export class PagePaths {
  readonly #files: FileTable;
  readonly #redirects: RedirectRules;
  readonly #builtFor: string;
  readonly #servedAt: string;
  readonly #trailingSlash: TrailingSlash;

  /** @param mount `from` is the beginning of the rules' paths */
  constructor(files: FileTable, redirects: RedirectRules, { from, to }: Mount, trailingSlash: TrailingSlash) {
    this.#files = files;
    this.#redirects = redirects;
    this.#builtFor = from;
    this.#servedAt = to;
    this.#trailingSlash = trailingSlash;
  }

  /** True if the site has rules with `!`, which may go before its pages. */
  get mayBeClosed(): boolean {
    return this.#redirects.hasForced;
  }

  /** The file that is served at a path, as the site was built. */
  fileAt(built: string, work: Work): string | null {
    const path = this.#inSite(built);
    if (path === null || !work.spend(LOOKUP_UNITS + path.length * LOOKUP_CHARACTER_UNITS)) return null;
    const found = findFile(this.#files, path, 'never');
    const again = found?.kind === 'redirect' ? findFile(this.#files, path.slice(0, -1), 'never') : found;
    return again?.kind === 'file' ? again.path : null;
  }

  /** The page at the end of redirects within the site; that of a path that ends in `.md`, too. @param path decoded, without its first slash */
  pageAt(path: string, work = new Work()): string | null {
    let led = this.#ledTo(this.#builtFor + path, work, true);
    // The first rule is one of which the redirects end.
    let isFirst = true;
    while (led !== null && 'moved' in led) {
      isFirst &&= led.isBySlash === true;
      led = led.moved === null ? null : this.#ledTo(led.moved, work, isFirst);
    }
    return led?.page ?? null;
  }

  /**
   * False if redirects lead on from the target of a rule for ever, or for longer than a browser follows.
   *
   * @param path of the target, decoded
   * @param host that the browser requests
   */
  ends({ origin }: RedirectTarget, targetPath: string, work: Work, host: string | null): boolean {
    let path = this.#builtPath(origin, targetPath);
    // The one that leads here is the first.
    for (let redirects = 1; redirects <= REDIRECTS_MAX; redirects++) {
      if (path === null) return true;
      const led: Led | null = this.#ledTo(path, work, false, host);
      if (work.isSpent) return false;
      if (led === null || 'page' in led) return true;
      if (led.moved === null) return false;
      path = led.moved;
    }
    return false;
  }

  /** False for the address of a page that `isOpen` is false of. @param path as `pageAt` */
  leadsOn(path: string, work = new Work()): boolean {
    if (!this.#redirects.hasForced) return true;
    const page = this.fileAt(this.#builtFor + path, work);
    return page === null || this.isOpen(page, work);
  }

  /** False for a page that rules with `!` go before at each of its addresses. */
  isOpen(page: string, work = new Work()): boolean {
    if (!this.#redirects.hasForced) return true;
    return [page, page.replace(EXTENSION, ''), pageStem(page)].some((path) => {
      const built = this.#builtFor + path;
      const led = this.#byRule(this.#redirects.forced(built, work), built, work, true);
      return led === null ? this.fileAt(built, work) === page : 'page' in led && led.page === page;
    });
  }

  /** The open ones of some pages, in turns of this thread. `isCut`: the rules cost so much work that the last pages are left out. */
  async openOf<T extends { readonly path: string }>(
    pages: Iterable<T>,
    units = LIST_UNITS,
  ): Promise<{ readonly open: readonly T[]; readonly isCut: boolean }> {
    const open: T[] = [];
    let left = units;
    let turn = TURN_UNITS;
    for (const page of pages) {
      const work = new Work();
      if (this.isOpen(page.path, work)) open.push(page);
      left -= work.spent;
      turn -= work.spent + PAGE_UNITS;
      if (left < 0) return { open, isCut: true };
      if (turn > 0) continue;
      turn = TURN_UNITS;
      await setImmediate();
    }
    return { open, isCut: false };
  }

  /** Follows the order of the contract, section 9. @param isFirst true to ignore rules whose redirects do not end */
  #ledTo(built: string, work: Work, isFirst: boolean, host: string | null = null): Led | null {
    const path = this.#inSite(built);
    if (path === null || isInternalPath(path)) return null;
    const forced = this.#byRule(this.#redirects.forced(built, work), built, work, isFirst, host);
    if (forced !== null) return forced;
    const file = this.fileAt(built, work);
    if (file !== null && isPage(file)) return this.#bySlash(built, path, work) ?? { page: file };
    const led = file === null ? this.#byRule(this.#redirects.others(built, work), built, work, isFirst, host) : null;
    if (led !== null) return led;
    const page = pageOfTwin(this.#files, path);
    return page !== null && this.isOpen(page, work) ? { page } : null;
  }

  /** Redirect to the address with or without the last slash. A rule with `!` may lead back from there. */
  #bySlash(built: string, path: string, work: Work): Led | null {
    if (!this.#redirects.hasForced || !work.spend(LOOKUP_UNITS + path.length * LOOKUP_CHARACTER_UNITS)) return null;
    if (findFile(this.#files, path, this.#trailingSlash)?.kind !== 'redirect') return null;
    return { moved: built.endsWith('/') ? built.slice(0, -1) : `${built}/`, isBySlash: true };
  }

  #byRule(
    rules: Iterable<MatchedRule>,
    built: string,
    work: Work,
    isFirst: boolean,
    host: string | null = null,
  ): Led | null {
    for (const { rule, captures } of rules) {
      const { target, status } = rule;
      const isRedirect = status !== 200 && status !== 404;
      const path = target.pathOf(captures);
      if (path === null) {
        if (isFirst || !isRedirect) continue;
        return { moved: null };
      }
      if (!isRedirect) {
        const file = this.fileAt(path, work);
        if (file === null || (status === 200 && isAssetPath(built) && isPage(file))) continue;
        return { page: status === 200 && isPage(file) ? file : null };
      }
      const isElsewhere = target.origin !== null && target.host !== host;
      if (isElsewhere && (host !== null || withoutSlash(path) !== withoutSlash(built))) return { page: null };
      const moved = this.#builtPath(target.origin, path);
      if (isElsewhere || moved === built || (isFirst && !this.ends(target, path, work, host))) continue;
      return moved === null ? { page: null } : { moved };
    }
    return null;
  }

  /** The path of a target as the site was built; null for one of this host that is outside of the site. */
  #builtPath(origin: string | null, path: string): string | null {
    return origin === null ? path : rebase(path, { from: this.#servedAt, to: this.#builtFor });
  }

  #inSite(built: string): string | null {
    return rebase(built, { from: this.#builtFor, to: '/' })?.slice(1) ?? null;
  }
}
