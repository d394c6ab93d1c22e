import { type Answer, httpServer, type LocalServer } from '../helpers/local-server.ts';

/** Response of an address: the markup of a page, or a complete response. */
export type OriginFile =
  | string
  | {
      readonly status?: number;
      readonly type?: string | null;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Uint8Array;
    }
  | Answer;

export interface Origin extends LocalServer {
  /** Counts the requests for an address. @param path in the form in which clients send it */
  requestCount(path: string): number;
  requestedPaths(): string[];
}

/** A live site with files by path and query. Missing paths return a 404 page. */
export async function originOf(files: Readonly<Record<string, OriginFile>>): Promise<Origin> {
  const server = await httpServer((request, response) => {
    const file = files[request.url ?? ''];
    if (typeof file === 'function') file(request, response);
    else if (file === undefined) {
      response
        .writeHead(404, { 'content-type': 'text/html' })
        .end('<!doctype html><title>Nothing here</title><a href="/">Home</a>');
    } else {
      const {
        status = 200,
        type = 'text/html',
        headers = {},
        body = '',
      } = typeof file === 'string' ? { body: file } : file;
      response.writeHead(status, { ...(type === null ? {} : { 'content-type': type }), ...headers }).end(body);
    }
  });
  const requestedPaths = () => server.requests.map(({ url }) => url ?? '');
  return Object.assign(server, {
    requestCount: (path: string) => requestedPaths().filter((each) => each === path).length,
    requestedPaths: requestedPaths,
  });
}
