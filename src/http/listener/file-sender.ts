import type { ServerResponse } from 'node:http';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { FileResponse } from '../../serve/index.ts';

/** Measured: 64 KiB take half as much processor time again, 512 KiB no less. */
const LARGE_BYTES = 256 * 1024;
/** 8 MiB of them: clients that stall, up to a minute each, have a small one. */
const LARGE_MAX = 32;
const SMALL_BYTES = 64 * 1024;

/** Writes files to the sockets of HTTP/1, each through one buffer that it reads anew when the former bytes are sent. */
export class FileSender {
  /** Kept: fresh memory of this size costs more than reading into it. */
  readonly #free: Buffer[] = [];
  #large = 0;

  /** An answer that is not a file's is given back, as is one to HTTP/2, whose streams have flow control of their own. */
  send(response: Response, outgoing: ServerResponse): Response | Promise<Response> {
    const isSent = response instanceof FileResponse && outgoing.req.httpVersionMajor === 1;
    return isSent ? this.#send(response, outgoing) : response;
  }

  async #send({ part, status, headers }: FileResponse, outgoing: ServerResponse): Promise<Response> {
    const buffer = this.#take();
    try {
      outgoing.writeHead(status, Object.fromEntries(headers));
      while (!outgoing.destroyed) {
        const bytes = await part.read(buffer);
        if (bytes === 0) break;
        await written(outgoing, buffer.subarray(0, bytes));
      }
      outgoing.end();
    } catch (error) {
      // It has been told.
      outgoing.destroy(error as Error);
    } finally {
      // The socket of a client that left may still have it.
      if (outgoing.destroyed) this.#drop(buffer);
      else if (buffer.length === LARGE_BYTES) this.#free.push(buffer);
      await part.close();
    }
    return RESPONSE_ALREADY_SENT;
  }

  #take(): Buffer {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#large === LARGE_MAX) return Buffer.allocUnsafeSlow(SMALL_BYTES);
    this.#large += 1;
    return Buffer.allocUnsafeSlow(LARGE_BYTES);
  }

  #drop({ length }: Buffer): void {
    if (length === LARGE_BYTES) this.#large -= 1;
  }
}

/** Until the socket has taken them, or is gone. */
function written(outgoing: ServerResponse, bytes: Buffer): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      outgoing.off('close', done);
      resolve();
    };
    outgoing.once('close', done);
    outgoing.write(bytes, done);
  });
}
