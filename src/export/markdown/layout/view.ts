import { encodePath, relativeReference } from '../site/address.ts';
import type { Page } from '../site/page.ts';
import type { LanguageSite, Site } from '../site/read-site.ts';
import type { Theme } from './theme.ts';

/** One document of the site, and all that its layout looks at. */
export interface View {
  readonly site: Site;
  readonly local: LanguageSite;
  readonly theme: Theme;
  /** Null for the page for what is not there, which is of no address and of any. */
  readonly page: Page | null;
  /** The reference from this document to a file of the site. */
  to(path: string): string;
}

export function viewOf(site: Site, local: LanguageSite, theme: Theme, page: Page | null): View {
  const from = page?.path ?? null;
  const root = rootPathOf(site.url);
  const to = (path: string) => (from === null ? root + encodePath(path) : relativeReference(from, path));
  return { site, local, theme, page, to };
}

/** A reference that `docs.json` holds, as this document is to have it. */
export function referenceOf({ site, to }: View, written: string): string {
  const target = site.targets.resolve('docs.json', written);
  if (target.kind === 'page') return to(target.page.path) + target.suffix;
  return target.kind === 'file' ? to(target.path) + target.suffix : written;
}

/** Canonical addresses are absolute and carry no extension: `https://docs.acme.dev/guides/start`. */
export function canonicalOf(site: Pick<Site, 'url'>, page: Page): string {
  return `${site.url}/${encodePath(page.address)}`;
}

/** The path that the site lies below on its host, `/` at both ends. */
function rootPathOf(url: string): string {
  return new URL(`${url}/`).pathname;
}
