import { type FileTable, isPage } from '../domain/release.ts';
import { hashedName, TaughtNames } from './hashed-name.ts';
import { isPagePart } from './media-type.ts';

/**
 * Folders that generators write for good, whatever the names in them: Next.js, Astro, Nuxt (which renews one file in its own), SvelteKit,
 * rustdoc, Gatsby, and the chunks of VitePress. Their own documentation has them sent as immutable.
 */
const FOLDERS =
  /(?:^|\/)(?:_next\/static\/|_astro\/|_nuxt\/(?!builds\/latest\.json$)|_app\/immutable\/|static\.files\/|static\/[0-9a-f]{32}\/|assets\/chunks\/(?:[^/]+\.)?[A-Za-z0-9_-]{8}\.js$)/;

/** Folders whose names are known; each costs a look through its names. */
const FOLDERS_MAX = 256;

/** Which names of a release never stand for other bytes (contract, section 3). */
export class ImmutableNames {
  readonly #files: Pick<FileTable, 'namesIn'>;
  readonly #taught = new Map<string, TaughtNames>();

  constructor(files: Pick<FileTable, 'namesIn'>) {
    this.#files = files;
  }

  /** True by the name itself, by its folder's generator, and where the names beside it carry a digest at the same place. */
  has(path: string): boolean {
    if (isPage(path)) return false;
    if (hashedName(path) || FOLDERS.test(path)) return true;
    if (!isPagePart(path)) return false;
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    return this.#namesIn(folder).has(path.slice(folder.length));
  }

  #namesIn(folder: string): TaughtNames {
    const known = this.#taught.get(folder);
    if (known !== undefined) return known;
    if (this.#taught.size >= FOLDERS_MAX) this.#taught.clear();
    const taught = new TaughtNames(this.#files.namesIn(folder).filter(isPagePart));
    this.#taught.set(folder, taught);
    return taught;
  }
}
