import { sideBySide } from '../helpers/side-by-side.ts';
import { type Answer, addressOf, SiteClient } from '../helpers/site-client.ts';
import type { BuiltSite } from './built-site.ts';

const CONNECTIONS = 16;
const REDIRECTS_MAX = 5;

/** Reads a served site like a browser: the addresses of its pages, and the targets of their links. */
export class SiteCrawl {
  readonly #origin: string;
  readonly #client: SiteClient;

  constructor(origin: string) {
    this.#origin = origin;
    this.#client = new SiteClient(origin, CONNECTIONS);
  }

  close(): void {
    this.#client.close();
  }

  /** Visible files of the original site that are not served byte for byte. */
  async wrongFiles(site: BuiltSite, isServed: (path: string) => boolean): Promise<string[]> {
    const wrong: string[] = [];
    await sideBySide(site.files, CONNECTIONS, async ([path, bytes]) => {
      const { status, body } = await this.#client.get(addressOf(path), { 'accept-encoding': 'identity' });
      const isRight = isServed(path) ? status === 200 && body.equals(bytes) : status === 404;
      if (!isRight) wrong.push(`${path}: ${status}`);
    });
    return wrong;
  }

  /** Links of served pages, resolved like in a browser, whose targets differ from the original site. */
  async wrongLinks(site: BuiltSite, isServed: (path: string) => boolean): Promise<{ wrong: string[]; links: number }> {
    const expected = new Map<string, string>();
    const addresses = await this.#addressesOfPages(site, isServed);
    for (const { page, href, file } of site.links()) {
      const address = addresses.get(page);
      if (file === null || address === undefined || !isServed(file)) continue;
      const { pathname, search } = new URL(href, `${this.#origin}${address}`);
      expected.set(pathname + search, file);
    }
    const wrong: string[] = [];
    await sideBySide(expected, CONNECTIONS, async ([address, file]) => {
      const { answer } = await this.#follow(address);
      const isRight = answer.status === 200 && site.files.get(file)?.equals(answer.body) === true;
      if (!isRight) wrong.push(`${address} -> ${file}: ${answer.status}`);
    });
    return { wrong, links: expected.size };
  }

  /** Address in the browser for each page: its clean address, or the target of its redirect. */
  async #addressesOfPages(site: BuiltSite, isServed: (path: string) => boolean): Promise<Map<string, string>> {
    const addresses = new Map<string, string>();
    await sideBySide(site.pages.filter(isServed), CONNECTIONS, async (page) => {
      const clean = page.replace(/(?:(?:^|\/)index)?\.x?html?$/, '');
      // `x.html` takes precedence over `x/index.html`, whose own address then ends in a slash.
      const isOvershadowed = site.fileAt(clean) !== page;
      const { address } = await this.#follow(addressOf(isOvershadowed ? `${clean}/` : clean));
      addresses.set(page, address);
    });
    return addresses;
  }

  async #follow(start: string): Promise<{ answer: Answer; address: string }> {
    let address = start;
    for (let redirects = 0; ; redirects++) {
      const answer = await this.#client.get(address, { 'accept-encoding': 'identity' });
      const { location } = answer.headers;
      if (location === undefined || redirects === REDIRECTS_MAX) return { answer, address };
      const { pathname, search } = new URL(location, `${this.#origin}${address}`);
      address = pathname + search;
    }
  }
}
