import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { languageOf, PAGE_LANGUAGES } from '../../src/web/words/index.ts';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';
import { waitFor } from '../helpers/wait-for.ts';

/** Fields of a response that the box reads. */
export interface BoxAnswer {
  readonly results: readonly object[];
  readonly corrected?: string | null;
  readonly facets?: Readonly<Record<string, readonly string[]>>;
  readonly semantic?: boolean;
}

/** Request of the box. The test responds to it. */
export interface BoxQuestion {
  readonly parameters: Readonly<Record<string, string>>;
  readonly answer: (answer: BoxAnswer | number) => void;
}

export interface BoxPage {
  /** Prefix of the path under the base path. */
  readonly name?: string;
  readonly lang?: string;
  readonly dir?: string;
  readonly head?: string;
  readonly body?: string;
  /** Attributes of the loader's element. */
  readonly attributes?: string;
  /** The template contains the loader, and docshelf adds nothing. */
  readonly isByHand?: boolean;
}

/** Only what the box needs: no inline script or style, no other host, no markup from text. */
const POLICY =
  "default-src 'none'; script-src 'self'; connect-src 'self'; style-src 'self'; base-uri *; require-trusted-types-for 'script'";
const BASE = '/docs/';
const ASSETS = `${BASE}_docshelf/assets/search-box-0123456789abcdef/`;

/** The built search box in test pages under a base path. The test sends the search results. */
export class SearchBoxSite {
  readonly questions: BoxQuestion[] = [];
  readonly #pages = new Map<string, string>();
  readonly #scripts = new Map<string, string>();
  readonly #server: LocalServer;

  private constructor(server: LocalServer, folder: string) {
    this.#server = server;
    for (const name of ['loader.js', 'replacing.js', 'by-hand.js', 'search-box.js'])
      this.#scripts.set(ASSETS + name, readFileSync(join(folder, name), 'utf8'));
    for (const { tag, words } of PAGE_LANGUAGES)
      this.#scripts.set(`${ASSETS}words-${tag}.json`, JSON.stringify(words.searchBox));
  }

  static async start(): Promise<SearchBoxSite> {
    const folder = mkdtempSync(join(tmpdir(), 'docshelf-box-'));
    const { buildSearchBox } = await import(join(import.meta.dirname, '../../scripts/search-box.mjs'));
    await buildSearchBox(folder);
    const server = await httpServer(({ url = '/' }, response) => site.#answer(url, response));
    const site = new SearchBoxSite(server, folder);
    rmSync(folder, { recursive: true });
    return site;
  }

  get origin(): string {
    return this.#server.origin;
  }

  /** Adds a page with the loader. @returns its path */
  add(
    name: string,
    { lang = 'en', dir = 'ltr', head = '', body = '<h1>A page</h1>', attributes = '', isByHand = false }: BoxPage,
  ): string {
    const path = BASE + name;
    const script = isByHand ? 'by-hand.js' : attributes.includes('data-replace') ? 'replacing.js' : 'loader.js';
    const label = isByHand ? '' : `data-label="${languageOf(lang)?.words.searchBox.open ?? 'Search'}"`;
    this.#pages.set(
      path,
      `<!doctype html><html lang="${lang}" dir="${dir}"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${name}</title>${head}<script type="module" src="${ASSETS}${script}" ${label} ${attributes}></script></head><body><main>${body}</main></body></html>`,
    );
    return path;
  }

  /** Adds a script of the site. @returns its path */
  addScript(name: string, text: string): string {
    this.#scripts.set(BASE + name, text);
    return BASE + name;
  }

  /** First request with these parameters that has no response yet. */
  question(wanted: Readonly<Record<string, string>>): Promise<BoxQuestion> {
    const isWanted = ({ parameters }: BoxQuestion): boolean =>
      Object.entries(wanted).every(([key, value]) => parameters[key] === value);
    return waitFor(
      () => {
        const at = this.questions.findIndex(isWanted);
        return at === -1 ? null : (this.questions.splice(at, 1)[0] ?? null);
      },
      () =>
        `${JSON.stringify(wanted)} was not asked; asked: ${JSON.stringify(this.questions.map((each) => each.parameters))}`,
    );
  }

  #answer(url: string, response: ServerResponse): void {
    const { pathname, searchParams } = new URL(url, this.origin);
    const send = (status: number, type: string, body: string): void => {
      response.writeHead(status, {
        'content-type': type,
        'content-security-policy': POLICY,
        'cache-control': 'no-store',
      });
      response.end(body);
    };
    const [page, script] = [this.#pages.get(pathname), this.#scripts.get(pathname)];
    if (page !== undefined) send(200, 'text/html', page);
    else if (script !== undefined)
      send(200, pathname.endsWith('.json') ? 'application/json' : 'text/javascript; charset=utf-8', script);
    else if (pathname === `${BASE}_docshelf/search`)
      this.questions.push({
        parameters: Object.fromEntries(searchParams),
        answer: (answer) =>
          typeof answer === 'number'
            ? send(answer, 'application/problem+json', '{}')
            : send(
                200,
                'application/json',
                JSON.stringify({ corrected: null, facets: {}, semantic: false, ...answer }),
              ),
      });
    else send(404, 'text/plain', 'nothing here');
  }
}
