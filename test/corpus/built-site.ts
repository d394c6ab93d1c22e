import { type DefaultTreeAdapterTypes, parse } from 'parse5';

/**
 * A site as its generator built it, looked at without docshelf: which files there are, which links its pages have, and
 * where those lead on a plain file host.
 */
export interface PageLink {
  /** The page's file. */
  readonly page: string;
  /** As written. */
  readonly href: string;
  /** Decoded, without leading slash. */
  readonly path: string;
  /** The file it leads to, resolved against the page's own file name; null where it leads to none. */
  readonly file: string | null;
}

const PAGE = /\.x?html?$/;
/** Any origin will do: links that leave it are not the site's. */
const ORIGIN = 'http://site.test';

export class BuiltSite {
  readonly files: ReadonlyMap<string, Buffer>;
  #deadPaths: ReadonlySet<string> | null = null;

  constructor(files: ReadonlyMap<string, Buffer>) {
    this.files = files;
  }

  get pages(): string[] {
    return [...this.files.keys()].filter((path) => PAGE.test(path));
  }

  /** The title of the page that answers that path. */
  titleAt(path: string): string {
    const html = this.files.get(this.fileAt(path) ?? '')?.toString('utf8') ?? '';
    const title = [...elementsOf(parse(html))].find((element) => element.tagName === 'title');
    const [text] = title?.childNodes ?? [];
    return text !== undefined && 'value' in text ? text.value : '';
  }

  /** Every `href` and `src` of every page that stays on the site. */
  links(): PageLink[] {
    return this.pages.flatMap((page) =>
      addressesOf(this.files.get(page)?.toString('utf8') ?? '').flatMap((href) => {
        const path = internalPath(href, `${ORIGIN}/${encodeURI(page)}`);
        return path === null ? [] : [{ page, href, path, file: this.fileAt(path) }];
      }),
    );
  }

  /** Decoded, without leading slash: what pages name on the site and no file answers. */
  get deadPaths(): ReadonlySet<string> {
    this.#deadPaths ??= new Set(this.links().flatMap(({ path, file }) => (file === null ? [path] : [])));
    return this.#deadPaths;
  }

  /** The rule of plain hosts: the file, else with `.html`, else the folder's `index.html`. */
  fileAt(path: string): string | null {
    const trimmed = path.replace(/\/$/, '');
    const candidates = path.endsWith('/') || path === '' ? [] : [path];
    candidates.push(`${trimmed}.html`, trimmed === '' ? 'index.html' : `${trimmed}/index.html`);
    return candidates.find((candidate) => this.files.has(candidate)) ?? null;
  }
}

/** The decoded path, without leading slash, that a browser on that page asks its own site for; null where it asks elsewhere. */
function internalPath(href: string, pageUrl: string): string | null {
  if (href.trim() === '' || href.startsWith('#')) return null;
  const url = URL.parse(href, pageUrl);
  if (url === null || url.origin !== ORIGIN) return null;
  try {
    return decodeURIComponent(url.pathname).slice(1);
  } catch {
    return null;
  }
}

function addressesOf(html: string): string[] {
  return [...elementsOf(parse(html))].flatMap(({ attrs }) =>
    attrs.filter(({ name }) => name === 'href' || name === 'src').map(({ value }) => value),
  );
}

function* elementsOf(parent: DefaultTreeAdapterTypes.ParentNode): Generator<DefaultTreeAdapterTypes.Element> {
  for (const child of parent.childNodes) {
    if (!('tagName' in child)) continue;
    yield child;
    yield* elementsOf(child);
  }
}
