import { setImmediate } from 'node:timers/promises';
import { type FileTable, isPage, type TrailingSlash } from '../domain/release.ts';
import { isAssetPath } from '../web/media-type.ts';
import { type Mount, rebase } from '../web/mount/base-path.ts';
import { fileAt, findFile, isInternalPath, pageStem } from '../web/resolve.ts';
import { REDIRECTS_MAX, type RedirectRules, type RedirectTarget, Work, withoutSlash } from '../web/rules/index.ts';

const PAGE_EXTENSIONS = ['.html', '.htm', '.xhtml'];
const PAGE_EXTENSION = /\.(?:html|htm|xhtml)$/i;
const INDEX_NAME = /(?:^|\/)index$/;
const MARKDOWN_EXTENSION = '.md';

type Paths = Pick<FileTable, 'has'>;
type RuleKind = 'forced' | 'others';

/** Returns `guide.html` or `guide/index.html` for `guide.md`, and `guide.html` for `guide.html.md` (llmstxt.org). */
export function pageOfMarkdown(files: Paths, path: string): string | null {
  if (!path.endsWith(MARKDOWN_EXTENSION)) return null;
  const stem = path.slice(0, -MARKDOWN_EXTENSION.length);
  if (stem === '' || stem.endsWith('/')) return null;
  if (PAGE_EXTENSION.test(stem)) return files.has(stem) ? stem : null;
  const names = [...PAGE_EXTENSIONS, ...PAGE_EXTENSIONS.map((extension) => `/index${extension}`)];
  return names.map((name) => stem + name).find((page) => files.has(page)) ?? null;
}

export function bundledMarkdownOf(files: Paths, page: string): string | null {
  const stem = page.replace(PAGE_EXTENSION, '');
  const folder = stem.replace(INDEX_NAME, '');
  const paths = [
    stem + MARKDOWN_EXTENSION,
    page + MARKDOWN_EXTENSION,
    ...(folder === stem || folder === '' ? [] : [folder + MARKDOWN_EXTENSION]),
  ];
  return paths.find((path) => files.has(path)) ?? null;
}

export const markdownPathOf = (page: string): string => page.replace(PAGE_EXTENSION, '') + MARKDOWN_EXTENSION;

/** Fixed cost of looking up a path `a`, including `a.html` and `a/index.html`, in units of `Work`. */
const LOOKUP_UNITS = 300;
/** Cost, in units of `Work`, of each character of a path to look up. */
const LOOKUP_CHARACTER_UNITS = 16;
/** Maximum work units to list pages. After each `TURN_UNITS`, docshelf handles other requests before it continues. */
const LIST_UNITS = 1_000_000_000;
const TURN_UNITS = 1_000_000;
const PAGE_UNITS = 1_000;

/**
 * Response to a path: a page (null for none), or a redirect (null if its target is too long). `isBySlash` is true if the redirect
 * only adds or removes the last slash.
 */
type Step = { readonly page: string | null } | { readonly moved: string | null; readonly isBySlash?: true };

/** Finds the page that a browser shows after all redirects. Ignores rules that only change the host. */
export class PagePaths {
  readonly hasForcedRules: boolean;
  readonly #files: FileTable;
  readonly #redirects: RedirectRules;
  readonly #builtFor: string;
  readonly #servedAt: string;
  readonly #trailingSlash: TrailingSlash;

  constructor(files: FileTable, redirects: RedirectRules, { from, to }: Mount, trailingSlash: TrailingSlash) {
    this.#files = files;
    this.#redirects = redirects;
    this.hasForcedRules = redirects.forcedRules.length > 0;
    this.#builtFor = from;
    this.#servedAt = to;
    this.#trailingSlash = trailingSlash;
  }

  fileAt(built: string, work: Work): string | null {
    const path = this.#inSite(built);
    if (path === null || !work.spend(LOOKUP_UNITS + path.length * LOOKUP_CHARACTER_UNITS)) return null;
    return fileAt(this.#files, path, 'never');
  }

  /** Finds the page at which redirects from a page or its Markdown (`guide.md`) end. @param path decoded path without its first slash */
  pageAt(path: string, work = new Work()): string | null {
    let step = this.#stepFrom(this.#builtFor + path, work, true);
    // Before the first redirect, skip rules that begin an endless redirect. Do not count a redirect that only adds or removes the
    // last slash.
    let isFirst = true;
    while (step !== null && 'moved' in step) {
      isFirst &&= step.isBySlash === true;
      step = step.moved === null ? null : this.#stepFrom(step.moved, work, isFirst);
    }
    return step?.page ?? null;
  }

  /** True if a browser reaches a page. False after too many redirects, for too long a path, or if the budget `work` is spent. */
  redirectsEnd({ origin }: RedirectTarget, targetPath: string, work: Work, host: string | null): boolean {
    let path = this.#builtPath(origin, targetPath);
    for (let redirects = 1; redirects <= REDIRECTS_MAX; redirects++) {
      if (path === null) return true;
      const step: Step | null = this.#stepFrom(path, work, false, host);
      if (work.isSpent) return false;
      if (step === null || 'page' in step) return true;
      if (step.moved === null) return false;
      path = step.moved;
    }
    return false;
  }

  /** False if the path belongs to a page that readers cannot open (see `isOpen`). @param path decoded path without its first slash */
  isReachable(path: string, work = new Work()): boolean {
    if (!this.hasForcedRules) return true;
    const page = this.fileAt(this.#builtFor + path, work);
    return page === null || this.isOpen(page, work);
  }

  /** False if forced rules (`!`) replace the page at each of its addresses. */
  isOpen(page: string, work = new Work()): boolean {
    if (!this.hasForcedRules) return true;
    return [page, page.replace(PAGE_EXTENSION, ''), pageStem(page)].some((path) => {
      const built = this.#builtFor + path;
      const step = this.#byRule('forced', built, work, true);
      return step === null ? this.fileAt(built, work) === page : 'page' in step && step.page === page;
    });
  }

  /** Returns pages that readers can open (see `isOpen`). `isCut` is true if checks cost over `units`, so the list is incomplete. */
  async openPages<T extends { readonly path: string }>(
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

  /**
   * Finds the page or the next redirect at a path.
   * @param isFirst true before the first redirect of a rule. Rules that redirect endlessly then do not apply
   */
  #stepFrom(built: string, work: Work, isFirst: boolean, host: string | null = null): Step | null {
    const path = this.#inSite(built);
    if (path === null || isInternalPath(path)) return null;
    const forced = this.#byRule('forced', built, work, isFirst, host);
    if (forced !== null) return forced;
    const file = this.fileAt(built, work);
    if (file !== null && isPage(file)) return this.#bySlash(built, path, work) ?? { page: file };
    const step = file === null ? this.#byRule('others', built, work, isFirst, host) : null;
    if (step !== null) return step;
    const page = pageOfMarkdown(this.#files, path);
    return page !== null && this.isOpen(page, work) ? { page } : null;
  }

  #bySlash(built: string, path: string, work: Work): Step | null {
    if (!this.hasForcedRules || !work.spend(LOOKUP_UNITS + path.length * LOOKUP_CHARACTER_UNITS)) return null;
    if (findFile(this.#files, path, this.#trailingSlash)?.kind !== 'redirect') return null;
    return { moved: built.endsWith('/') ? built.slice(0, -1) : `${built}/`, isBySlash: true };
  }

  /** Yields the rules for a path. Skips rules without a file, and rules that serve a page for an asset, which must result in a 404. */
  *applying(kind: RuleKind, built: string, work: Work) {
    for (const { rule, captures } of this.#redirects[kind](built, work)) {
      const { target, status } = rule;
      const path = target.pathOf(captures);
      const isRedirect = status !== 200 && status !== 404;
      const file = isRedirect || path === null ? null : this.fileAt(path, work);
      if (!isRedirect && (file === null || (status === 200 && isAssetPath(built) && isPage(file)))) continue;
      yield { target, status, captures, path, file };
    }
  }

  #byRule(kind: RuleKind, built: string, work: Work, isFirst: boolean, host: string | null = null): Step | null {
    for (const { target, status, path, file } of this.applying(kind, built, work)) {
      if (file !== null) return { page: status === 200 && isPage(file) ? file : null };
      if (path === null) {
        if (isFirst) continue;
        return { moved: null };
      }
      const isElsewhere = target.origin !== null && target.host !== host;
      if (isElsewhere && (host !== null || withoutSlash(path) !== withoutSlash(built))) return { page: null };
      const moved = this.#builtPath(target.origin, path);
      if (isElsewhere || moved === built || (isFirst && !this.redirectsEnd(target, path, work, host))) continue;
      return moved === null ? { page: null } : { moved };
    }
    return null;
  }

  #builtPath(origin: string | null, path: string): string | null {
    return origin === null ? path : rebase(path, { from: this.#servedAt, to: this.#builtFor });
  }

  #inSite(built: string): string | null {
    return rebase(built, { from: this.#builtFor, to: '/' })?.slice(1) ?? null;
  }
}
