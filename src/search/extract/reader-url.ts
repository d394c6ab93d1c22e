import type { TrailingSlash } from '../../domain/release.ts';
import { decodeOrKeep } from '../../web/escape.ts';
import { findLinks } from '../../web/references.ts';
import { resolvePath } from '../../web/resolve.ts';
import { encodeUnsafe, OWN_ORIGIN } from './site-address.ts';

type FileTable = Parameters<typeof resolvePath>[0];

export interface ReaderForm {
  readonly trailingSlash: TrailingSlash;
  /** `/guides/start.html`, or `/guides/start`. */
  readonly extension: 'keep' | 'drop';
}

const EXTENSION = /\.(?:html|htm|xhtml)$/i;
const INDEX = /(?:^|\/)index\.(?:html|htm|xhtml)$/i;

/** A canonical is the page's word about itself; a link may be anybody's. */
const CANONICAL_WEIGHT = 20;

/** How a site's canonicals and links write pages that are files, by a sample of its pages. */
export class PageForms {
  readonly #files: FileTable;
  #kept = 0;
  #dropped = 0;

  constructor(files: FileTable) {
    this.#files = files;
  }

  addPage(path: string, html: string): void {
    for (const { kind, url } of findLinks(html).references) {
      const target = URL.parse(url, `${OWN_ORIGIN}/${path}`);
      if (target === null) continue;
      if (kind === 'canonical') this.#count(target, CANONICAL_WEIGHT, INDEX.test(path) ? null : path);
      else if (kind === 'link' && target.origin === OWN_ORIGIN) this.#count(target, 1, null);
    }
  }

  extension(): ReaderForm['extension'] {
    return this.#dropped > this.#kept ? 'drop' : 'keep';
  }

  #count(address: URL, weight: number, page: string | null): void {
    const { pathname } = address;
    if (EXTENSION.test(pathname)) {
      if (page !== null || !INDEX.test(pathname)) this.#kept += weight;
    } else if (page !== null) {
      if (!pathname.endsWith('/')) this.#dropped += weight;
    } else if (!pathname.endsWith('/') && this.#files.has(`${decodeOrKeep(pathname).slice(1)}.html`))
      this.#dropped += weight;
  }
}

/** In the site's form, if that address leads to this file; else the file's own path. */
export function readerUrl(path: string, form: ReaderForm, files: FileTable): string {
  const stem = path.replace(INDEX, '');
  const folder = form.trailingSlash === 'always' && stem !== '' ? `${stem}/` : stem;
  const file = form.extension === 'drop' ? path.replace(EXTENSION, '') : path;
  const preferred = stem === path ? file : folder;
  const resolution = resolvePath(files, preferred, form.trailingSlash);
  const leadsHere = resolution.kind === 'file' && resolution.path === path;
  return `/${encodeUnsafe(leadsHere ? preferred : path)
    .replaceAll('?', '%3F')
    .replaceAll('#', '%23')}`;
}
