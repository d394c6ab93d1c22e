import type { ClientRequest, IncomingMessage } from 'node:http';
import { pipeline } from 'node:stream';
import type { HttpBindings } from '@hono/node-server';
import { PEER_HEADER } from '../../http/listener/remote-address.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../../http/listener/request-id.ts';
import type { DaemonLine } from '../../net/daemon-request.ts';
import { NOTICES, noticeResponse } from '../../serve/index.ts';

/** Of one connection (RFC 9110, section 7.6.1), and what is made anew for the other. */
const OF_CONNECTION = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect date'.split(' '),
);
const OF_REQUEST = new Set([...OF_CONNECTION, PEER_HEADER, REQUEST_ID_HEADER.toLowerCase(), 'host', 'content-length']);

/** Gives a request to the daemon, and its answer to the client as it is. */
export function handOn(line: DaemonLine, env: HttpBindings): Promise<Response> {
  const { incoming, outgoing } = env;
  const method = incoming.method ?? 'GET';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const sent = line.request(method, incoming.url ?? '/', fieldsFor(env, hasBody));
  outgoing.once('close', () => sent.destroy());
  const answered = new Promise<Response>((resolve) => {
    sent.on('response', (answer) => {
      send(answer, env);
      resolve(ANSWERED);
    });
    sent.on('error', () => {
      if (outgoing.headersSent || outgoing.destroyed) outgoing.destroy();
      resolve(outgoing.headersSent || outgoing.destroyed ? ANSWERED : away(env));
    });
  });
  if (hasBody) sendBody(env, sent);
  else sent.end();
  return answered;
}

/** For the framework: the answer is written past it. */
const ANSWERED = new Response(null, { headers: { 'x-hono-already-sent': 'true' } });

/** The daemon has ended, and so will this process. */
function away({ incoming: { method = 'GET', headers } }: HttpBindings): Response {
  const header = (name: string): string | undefined => headers[name]?.toString();
  return noticeResponse({ method, header }, { ...NOTICES.unavailable, language: null });
}

function sendBody({ incoming, outgoing }: HttpBindings, sent: ClientRequest): void {
  if (incoming.headers.expect !== undefined) outgoing.writeContinue();
  // The answer to a part of it is an answer.
  pipeline(incoming, sent, () => undefined);
}

function fieldsFor(env: HttpBindings, hasBody: boolean): string[] {
  const { rawHeaders, headers, socket } = env.incoming;
  const fields: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!name.startsWith(':') && !OF_REQUEST.has(name.toLowerCase())) fields.push(name, rawHeaders[at + 1] ?? '');
  }
  fields.push('Host', headers.host ?? '', PEER_HEADER, socket.remoteAddress ?? '');
  fields.push(REQUEST_ID_HEADER, requestIdOf(env) ?? '');
  const length = headers['content-length'];
  if (hasBody && length !== undefined) fields.push('Content-Length', length);
  else if (hasBody) fields.push('Transfer-Encoding', 'chunked');
  return fields;
}

function send(answer: IncomingMessage, { incoming, outgoing }: HttpBindings): void {
  const { rawHeaders, headers, statusCode = 502 } = answer;
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (OF_CONNECTION.has(name.toLowerCase()) || name === REQUEST_ID_HEADER) continue;
    outgoing.appendHeader(name, rawHeaders[at + 1] ?? '');
  }
  // It has not read all of the request.
  if (headers.connection === 'close' && incoming.httpVersionMajor === 1) outgoing.setHeader('Connection', 'close');
  outgoing.writeHead(statusCode);
  pipeline(answer, outgoing, () => undefined);
}
