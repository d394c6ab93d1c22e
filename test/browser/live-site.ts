import type { ServerResponse } from 'node:http';
import { lookup } from 'mime-types';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';

/** Mapping of files to addresses on a host. */
export interface Hosting {
  /** Path of the site's folder, with slashes. */
  readonly base: string;
  /**
   * Addresses of `x.html` and `x/index.html`. `file`: unchanged. `bare`: `/x` for both. `slash`: `/x/`, with a redirect from
   * `/x`.
   */
  readonly addresses: 'file' | 'bare' | 'slash';
}

const PAGE = /\.html$/;
const NOT_FOUND = '404.html';
const NOT_FOUND_PAGE = /(?:^|\/)404(?:\/index)?\.html$/;

/** Serves files of a site like its host: with clean addresses, the 404 page, and basic media types. */
export class LiveSite {
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #hosting: Hosting;
  readonly #server: LocalServer;

  private constructor(files: ReadonlyMap<string, Buffer>, hosting: Hosting, server: LocalServer) {
    this.#files = files;
    this.#hosting = hosting;
    this.#server = server;
  }

  static async start(files: ReadonlyMap<string, Buffer>, hosting: Hosting): Promise<LiveSite> {
    const answering = new Answering(files, hosting);
    const server = await httpServer(({ url = '/' }, response) => answering.answer(url, response));
    return new LiveSite(files, hosting, server);
  }

  get origin(): string {
    return this.#server.origin;
  }

  /** Address of the first page. */
  get url(): string {
    return this.origin + this.#hosting.base;
  }

  /** Sorted addresses of the pages, without 404 pages. */
  pages(): string[] {
    return pageAddresses(this.#files.keys(), this.#hosting);
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}

/** Sorted addresses of the pages among files, without 404 pages. */
export function pageAddresses(files: Iterable<string>, { base, addresses }: Hosting): string[] {
  return [...files]
    .filter((path) => PAGE.test(path) && !NOT_FOUND_PAGE.test(path))
    .map((path) => {
      const name = addresses === 'file' ? path : path.replace(/(?:^|\/)index\.html$/, '').replace(PAGE, '');
      const end = addresses === 'slash' && name !== '' ? '/' : '';
      return encodeURI(base + name + end);
    })
    .sort();
}

class Answering {
  readonly #files: ReadonlyMap<string, Buffer>;
  readonly #hosting: Hosting;

  constructor(files: ReadonlyMap<string, Buffer>, hosting: Hosting) {
    this.#files = files;
    this.#hosting = hosting;
  }

  answer(url: string, response: ServerResponse): void {
    const { base, addresses } = this.#hosting;
    const { pathname, search } = new URL(url, 'http://site.test');
    const requestedPath = decodeURIComponent(pathname);
    const path = requestedPath.startsWith(base) ? requestedPath.slice(base.length) : '';
    const isFolder = path === '' || path.endsWith('/');
    const names = isFolder ? [`${path}index.html`] : [path, `${path}.html`, `${path}/index.html`];
    const name = requestedPath.startsWith(base) ? names.find((each) => this.#files.has(each)) : undefined;
    if (name === undefined) this.#sendNotFound(response, path);
    else if (name === names[2] && addresses !== 'bare')
      response.writeHead(301, { location: `${pathname}/${search}` }).end();
    else this.#send(response, 200, name);
  }

  /** Sends the nearest 404 page up the tree, because each language has its own. */
  #sendNotFound(response: ServerResponse, path: string): void {
    const folders = path.split('/').slice(0, -1);
    const candidates = folders.map((_, at) => [...folders.slice(0, folders.length - at), NOT_FOUND].join('/'));
    const page = [...candidates, NOT_FOUND].find((each) => this.#files.has(each));
    if (page === undefined) response.writeHead(404, { 'content-type': 'text/plain' }).end('not found');
    else this.#send(response, 404, page);
  }

  #send(response: ServerResponse, status: number, path: string): void {
    const bytes = this.#files.get(path) ?? Buffer.alloc(0);
    const type = lookup(path) || 'application/octet-stream';
    const charset = /^text\/|javascript|json|xml$/.test(type) ? '; charset=utf-8' : '';
    response.writeHead(status, { 'content-type': type + charset, 'content-length': bytes.length }).end(bytes);
  }
}
