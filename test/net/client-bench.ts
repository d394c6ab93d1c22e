import { afterEach, vi } from 'vitest';
import type { HttpResponse } from '../../src/net/http-response.ts';
import { type Answer, httpServer, type LocalServer } from '../helpers/local-server.ts';
import { type ClientSettings, httpClientOf } from './http-client-of.ts';

export const NEVER = new AbortController().signal;

/** Creates servers and clients, and changes the environment and modules. The end of the test undoes all of this. */
export function clientBench() {
  const opened: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    for (const thing of opened.splice(0).reverse()) await thing.close();
  });
  const keep = <Kept extends { close(): Promise<void> }>(thing: Kept): Kept => {
    opened.push(thing);
    return thing;
  };
  const client = (settings: ClientSettings = {}) => keep(httpClientOf(settings));
  return {
    keep,
    client,
    /** Starts an HTTP server with the given response, or uses a server that is starting. */
    server: async (starting: Promise<LocalServer> | Answer): Promise<LocalServer> =>
      keep(await (typeof starting === 'function' ? httpServer(starting) : starting)),
    get: (url: string, settings: ClientSettings = {}): Promise<HttpResponse> =>
      client(settings).get(url, { signal: NEVER }),
  };
}

/** Redirects `/to?…` to the address in the query, and returns text for other paths. */
export const redirecting =
  (text: string): Answer =>
  (request, response) => {
    const to = /^\/to\?(.*)/.exec(request.url ?? '')?.[1];
    if (to === undefined) response.end(text);
    else response.writeHead(302, { location: decodeURIComponent(to) }).end();
  };
