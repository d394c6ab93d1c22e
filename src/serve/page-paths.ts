import { type FileTable, isPage } from '../domain/release.ts';
import { isAssetPath } from '../web/media-type.ts';
import { rebase } from '../web/mount/base-path.ts';
import { pageStem } from '../web/page-stem.ts';
import { isOwn, resolvePath } from '../web/resolve.ts';
import { type MatchedRule, type RedirectRules, withoutSlash } from '../web/rules/index.ts';
import { pageOfTwin } from './twins/twin-path.ts';

/** Browsers give up after twenty. */
const REDIRECTS_MAX = 20;
const EXTENSION = /\.x?html?$/i;

/** `page`: null for the site's page of what is missing. */
type Led = { readonly page: string | null } | { readonly moved: string };

/** Where a browser ends that asks for a page, whatever host it asks: a rule to the same path elsewhere is passed over. */
export class PagePaths {
  readonly #files: FileTable;
  readonly #redirects: RedirectRules;
  readonly #builtFor: string;

  /** @param builtFor what the addresses of the rules begin with, with its last slash */
  constructor(files: FileTable, redirects: RedirectRules, builtFor: string) {
    this.#files = files;
    this.#redirects = redirects;
    this.#builtFor = builtFor;
  }

  /** The file that answers a path, as the site was built. */
  fileAt(built: string): string | null {
    const path = this.#inSite(built);
    if (path === null) return null;
    const found = resolvePath(this.#files, path, 'never');
    const again = found.kind === 'redirect' ? resolvePath(this.#files, path.slice(0, -1), 'never') : found;
    return again.kind === 'file' ? again.path : null;
  }

  /** The page at the end of redirects within the site; that of a path that ends in `.md`, too. @param path decoded, without its first slash */
  pageAt(path: string): string | null {
    let built = this.#builtFor + path;
    for (let steps = 0; steps <= REDIRECTS_MAX; steps++) {
      const led = this.#ledTo(built);
      if (led === null || 'page' in led) return led?.page ?? null;
      built = led.moved;
    }
    return null;
  }

  /** False for the address of a page that `isOpen` is false of. @param path as `pageAt` */
  leadsOn(path: string): boolean {
    if (!this.#redirects.hasForced) return true;
    const page = this.fileAt(this.#builtFor + path);
    return page === null || this.isOpen(page);
  }

  /** False for a page that rules with `!` go before at each of its addresses. */
  isOpen(page: string): boolean {
    if (!this.#redirects.hasForced) return true;
    return [page, page.replace(EXTENSION, ''), pageStem(page)].some((path) => {
      const built = this.#builtFor + path;
      const led = this.#byRule(this.#redirects.forced(built), built);
      return led === null ? this.fileAt(built) === page : 'page' in led && led.page === page;
    });
  }

  /** In the order of the contract, section 9. */
  #ledTo(built: string): Led | null {
    const path = this.#inSite(built);
    if (path === null || isOwn(path)) return null;
    const forced = this.#byRule(this.#redirects.forced(built), built);
    if (forced !== null) return forced;
    const file = this.fileAt(built);
    if (file !== null && isPage(file)) return { page: file };
    const led = file === null ? this.#byRule(this.#redirects.others(built), built) : null;
    if (led !== null) return led;
    const page = pageOfTwin(this.#files, path);
    return page !== null && this.isOpen(page) ? { page } : null;
  }

  #byRule(rules: Iterable<MatchedRule>, built: string): Led | null {
    for (const { rule, captures } of rules) {
      const { target, status } = rule;
      const path = target.pathOf(captures);
      if (path === null) continue;
      if (status === 200 || status === 404) {
        const file = this.fileAt(path);
        if (file === null || (status === 200 && isAssetPath(built) && isPage(file))) continue;
        return { page: status === 200 && isPage(file) ? file : null };
      }
      if (path === built || (target.origin !== null && withoutSlash(path) === withoutSlash(built))) continue;
      return target.origin === null ? { moved: path } : { page: null };
    }
    return null;
  }

  #inSite(built: string): string | null {
    return rebase(built, { from: this.#builtFor, to: '/' })?.slice(1) ?? null;
  }
}
