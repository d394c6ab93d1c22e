import { type DefaultTreeAdapterTypes, parse } from 'parse5';

/**
 * A site as its generator built it, read without docshelf: its files, the links of its pages, and their targets on a plain file
 * host.
 */
export interface PageLink {
  /** File of the page. */
  readonly page: string;
  /** Text of the attribute. */
  readonly href: string;
  /** Decoded, without a leading slash. */
  readonly path: string;
  /** File of the link, resolved against the name of the page's file. Null if there is none. */
  readonly file: string | null;
}

const PAGE = /\.x?html?$/;
/** Any origin works, because links to other origins are ignored. */
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

  /** Title of the page at that path. */
  titleAt(path: string): string {
    const html = this.files.get(this.fileAt(path) ?? '')?.toString('utf8') ?? '';
    const title = [...elementsOf(parse(html))].find((element) => element.tagName === 'title');
    const [text] = title?.childNodes ?? [];
    return text !== undefined && 'value' in text ? text.value : '';
  }

  hasScripts(path: string): boolean {
    const html = this.files.get(this.fileAt(path) ?? '')?.toString('utf8') ?? '';
    return elementsOf(parse(html)).some(({ tagName }) => tagName === 'script');
  }

  /** Each `href` and `src` of each page that stays on the site. */
  links(): PageLink[] {
    return this.pages.flatMap((page) =>
      addressesOf(this.files.get(page)?.toString('utf8') ?? '').flatMap((href) => {
        const path = internalPath(href, `${ORIGIN}/${encodeURI(page)}`);
        return path === null ? [] : [{ page, href, path, file: this.fileAt(path) }];
      }),
    );
  }

  /** Decoded paths without a leading slash that pages reference and that have no file. */
  get deadPaths(): ReadonlySet<string> {
    this.#deadPaths ??= new Set(this.links().flatMap(({ path, file }) => (file === null ? [path] : [])));
    return this.#deadPaths;
  }

  /** Rule of plain hosts: the file, else with `.html`, else the folder's `index.html`. */
  fileAt(path: string): string | null {
    const trimmed = path.replace(/\/$/, '');
    const candidates = path.endsWith('/') || path === '' ? [] : [path];
    candidates.push(`${trimmed}.html`, trimmed === '' ? 'index.html' : `${trimmed}/index.html`);
    return candidates.find((candidate) => this.files.has(candidate)) ?? null;
  }
}

/** Decoded path on the site that a browser would request, without a leading slash. Null for other origins. */
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
