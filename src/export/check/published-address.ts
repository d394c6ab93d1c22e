import { decodeOrKeep, type PageReferences } from '../../web/index.ts';

/** The site's public address by its own canonicals: `https://docs.acme.dev`, `/` or `/docs/`. */
export interface PublishedAt {
  readonly origin: string;
  readonly prefix: string;
}

const INDEX_PAGE = /(?:^|\/)index\.x?html?$/i;
const EXTENSION = /\.x?html?$/i;

/** The address that a site is published at: a vote of each page whose canonical address ends with the page's own path. */
export class PublishedAddress {
  readonly #votes = new Map<string, { readonly at: PublishedAt; count: number }>();

  addPage(path: string, { references }: PageReferences): void {
    const canonical = references.find(({ kind }) => kind === 'canonical');
    const url = canonical === undefined ? null : URL.parse(canonical.url);
    if (url === null || !/^https?:$/.test(url.protocol)) return;
    const prefix = prefixOf(decodeOrKeep(url.pathname), path);
    if (prefix === null) return;
    const key = url.origin + prefix;
    const vote = this.#votes.get(key) ?? { at: { origin: url.origin, prefix }, count: 0 };
    vote.count += 1;
    this.#votes.set(key, vote);
  }

  decide(): PublishedAt | null {
    const [most] = [...this.#votes.values()].sort((a, b) => b.count - a.count);
    return most?.at ?? null;
  }
}

function prefixOf(address: string, path: string): string | null {
  const folder = path.replace(INDEX_PAGE, '');
  const forms =
    folder === path ? [path, path.replace(EXTENSION, '')] : [path, folder, folder === '' ? '' : `${folder}/`];
  for (const form of forms) if (address.endsWith(`/${form}`)) return address.slice(0, address.length - form.length);
  return null;
}
