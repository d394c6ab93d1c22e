import { readdir, stat } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { onFileEnd } from './file-end.ts';

/** Server on 127.0.0.1 and a free port, until the end of the file. It records its requests and open sockets. */
export interface LocalServer {
  /** `127.0.0.1:port` */
  readonly host: string;
  readonly origin: string;
  readonly requests: readonly IncomingMessage[];
  openSockets(): number;
  close(): Promise<void>;
}

/**
 * Responds to a request, at once or later. An error fails the run, unless the client has disconnected, because its test may have
 * ended.
 */
export type Answer = (...exchange: Parameters<RequestListener>) => unknown;

export function answerClient(answer: Answer, request: IncomingMessage, response: ServerResponse): void {
  Promise.resolve(answer(request, response)).catch((error: unknown) => {
    if (!request.socket.destroyed) throw error;
  });
}

export async function httpServer(answer: Answer): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answerClient(answer, request, response);
  });
  return listen(server, 'http', requests);
}

export async function tlsServer(tls: { key: string; cert: string }, answer: Answer): Promise<LocalServer> {
  const requests: IncomingMessage[] = [];
  const server = createTlsServer(tls, (request, response) => {
    requests.push(request);
    answerClient(answer, request, response);
  });
  return listen(server, 'https', requests);
}

/** Server for traffic that HTTP libraries cannot send: cut bodies, silence, garbage. */
export async function tcpServer(onSocket: (socket: Socket) => void): Promise<LocalServer> {
  return listen(createTcpServer(onSocket), 'http', []);
}

/** Responds to the first bytes of each connection with `head`, then calls `then`, which ends the connection by default. */
export function answering(head: string, then: (socket: Socket) => void = (socket) => socket.end()) {
  return (socket: Socket): void => {
    socket.once('data', () => {
      socket.write(head);
      then(socket);
    });
  };
}

/**
 * Ends a response after the folder contains this number of bytes, because the client resumes only from there. Ends without an
 * error if the client disconnects, because its test may have removed the folder.
 */
export async function breakOffOnceStored(response: ServerResponse, bytes: number, folder: string): Promise<void> {
  while (!response.closed && !(await sizesIn(folder)).includes(bytes)) await sleep(25);
  response.destroy();
}

async function sizesIn(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch(() => []);
  // A file may be renamed or removed between the two calls.
  const sizes = names.map((name) =>
    stat(join(folder, name)).then(
      ({ size }) => size,
      () => -1,
    ),
  );
  return Promise.all(sizes);
}

/** Server of one bundle that supports Range and If-Range (RFC 9110). */
export function bundleAnswer(bytes: Uint8Array, etag: string | null) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    if (etag !== null) response.setHeader('etag', etag);
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? Number.NaN);
    if (Number.isNaN(from) || request.headers['if-range'] !== etag) {
      response.writeHead(200, { 'content-length': bytes.length }).end(bytes);
    } else if (from >= bytes.length) {
      response.writeHead(416, { 'content-range': `bytes */${bytes.length}` }).end();
    } else {
      const rest = bytes.subarray(from);
      const range = `bytes ${from}-${bytes.length - 1}/${bytes.length}`;
      response.writeHead(206, { 'content-range': range, 'content-length': rest.length }).end(rest);
    }
  };
}

async function listen(server: Server, scheme: string, requests: IncomingMessage[]): Promise<LocalServer> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(() => resolve()));
  };
  onFileEnd(close);
  return {
    host,
    origin: `${scheme}://${host}`,
    requests,
    openSockets: () => sockets.size,
    close,
  };
}
