import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';

const CHUNKS = 24;

/** A slow source of one bundle, so that a kill can hit the download. Its links can be expired. */
export class TrickleServer {
  /** Number of requests that resumed a download. */
  resumed = 0;
  readonly #bytes: Buffer;
  readonly #server: LocalServer;

  private constructor(bytes: Buffer, server: LocalServer) {
    this.#bytes = bytes;
    this.#server = server;
  }

  /** @param durationMs approximate duration of a download */
  static async open(bytes: Buffer, durationMs: number): Promise<TrickleServer> {
    const server = await httpServer((request, response) => trickle.#answer(request, response, durationMs));
    const trickle = new TrickleServer(bytes, server);
    return trickle;
  }

  /** Presigned links to one object, which differ only in their query. */
  link(signature: 'valid' | 'expired'): string {
    return `${this.#server.origin}/new.tar.gz?signature=${signature}`;
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  async #answer(request: IncomingMessage, response: ServerResponse, durationMs: number): Promise<void> {
    if (request.url?.endsWith('=valid') !== true) {
      response.writeHead(403).end();
      return;
    }
    const bytes = this.#bytes;
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0);
    const isRest = from > 0 && from < bytes.length && request.headers['if-range'] === '"b"';
    const rest = bytes.subarray(isRest ? from : 0);
    if (isRest) this.resumed++;
    const range = isRest ? { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` } : {};
    response.writeHead(isRest ? 206 : 200, { etag: '"b"', 'content-length': rest.length, ...range });
    const chunkBytes = Math.ceil(bytes.length / CHUNKS);
    for (let start = 0; start < rest.length && !response.destroyed; start += chunkBytes) {
      response.write(rest.subarray(start, start + chunkBytes));
      await sleep(durationMs / CHUNKS);
    }
    response.end();
  }
}
