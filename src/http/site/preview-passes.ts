import type { ReleaseRef } from '../../deploy/index.ts';
import { VERSION_ADDRESSES } from '../../domain/release.ts';
import type { SiteRequest } from '../../site/index.ts';
import { once } from '../../threads/once.ts';
import { Seals, SiteCookie } from '../sign-in/sealed-cookies.ts';

export const PREVIEW_MS = 24 * 3600_000;

interface PreviewPassesOptions {
  /** Keys that seal preview links. @throws DocshelfError `cannot_read`, `cannot_write` */
  readonly keys: () => Promise<readonly string[]>;
  /** Domain of the site. Links are sealed for this domain, so that a link of one site does not open another site. */
  readonly site: string;
  readonly basePath: string;
  readonly isSecure: boolean;
}

/** Number of hex digits of the release's digest in the cookie name. Separate names let a reader preview several versions. */
const NAME_DIGITS = 12;
const PARAMETER = 'preview';

/** Lets readers with a preview link read a staged version. Link and cookie are sealed for one site, version and release. */
export class PreviewPasses {
  readonly #options: PreviewPassesOptions;
  readonly #sealing: () => Promise<Seals>;

  constructor(options: PreviewPassesOptions) {
    this.#options = options;
    this.#sealing = once(async () => new Seals(await options.keys()));
  }

  async target(release: ReleaseRef): Promise<string> {
    const seals = await this.#sealing();
    const pass = seals.seal(this.#purpose('link', release), {}, PREVIEW_MS);
    return `${this.#options.basePath}${VERSION_ADDRESSES.slice(1)}${release.version}/?${PARAMETER}=${pass}`;
  }

  /** Returns a cookie if the reader has a valid preview link, or else null. @throws DocshelfError `cannot_read`, `cannot_write` */
  async cookieFor(release: ReleaseRef, { target }: Pick<SiteRequest, 'target'>): Promise<string | null> {
    const pass = new URLSearchParams(/\?.*/s.exec(target)?.[0]).get(PARAMETER);
    if (pass === null) return null;
    const seals = await this.#sealing();
    if (seals.open(this.#purpose('link', release), pass) === null) return null;
    return this.#cookie(release).set(seals.seal(this.#purpose('cookie', release), {}, PREVIEW_MS), PREVIEW_MS);
  }

  async admits(release: ReleaseRef, { header }: Pick<SiteRequest, 'header'>): Promise<boolean> {
    const values = this.#cookie(release).valuesIn(header('cookie'));
    if (values.length === 0) return false;
    const seals = await this.#sealing();
    return values.some((value) => seals.open(this.#purpose('cookie', release), value) !== null);
  }

  #cookie({ digest }: ReleaseRef): SiteCookie {
    const { basePath, isSecure } = this.#options;
    return new SiteCookie(`docshelf-preview-${digest.slice(0, NAME_DIGITS)}`, basePath, isSecure);
  }

  #purpose(kind: 'link' | 'cookie', { version, digest }: ReleaseRef): string {
    return JSON.stringify([`preview ${kind}`, this.#options.site, version, digest]);
  }
}

/** Removes the credential of a preview link from a query, so that no log, history or other page contains it. */
export function withoutPass(query: string): string {
  const kept = query
    .replace(/^\?/, '')
    .split('&')
    .filter((part) => part !== PARAMETER && !part.startsWith(`${PARAMETER}=`));
  return kept.join('&') === '' ? '' : `?${kept.join('&')}`;
}
