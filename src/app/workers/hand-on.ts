import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { BODY_BYTES_MAX } from '../../domain/limits.ts';
import { collect } from '../../files/index.ts';
import { PEER_HEADER } from '../../http/listener/remote-address.ts';
import { requestField } from '../../http/listener/request-field.ts';
import { REQUEST_ID_HEADER, requestIdOf } from '../../http/listener/request-id.ts';
import { pathOf } from '../../http/listener/served-request.ts';
import { REPORT_BYTES_MAX, REPORTS_PATH } from '../../http/site/page-reports.ts';
import { MCP_PATHS } from '../../http/site/site.ts';
import type { DaemonLine } from '../../net/daemon-request.ts';
import { NOTICES, noticeResponse } from '../../serve/index.ts';

/** Of one connection (RFC 9110, section 7.6.1), and what is made anew for the other. */
const OF_CONNECTION = new Set(
  'connection keep-alive proxy-connection te trailer transfer-encoding upgrade expect date'.split(' '),
);
const OF_REQUEST = new Set([...OF_CONNECTION, PEER_HEADER, REQUEST_ID_HEADER.toLowerCase(), 'host', 'content-length']);

/** Gives a request to the daemon, and its answer to the client as it is. */
export async function handOn(line: DaemonLine, env: HttpBindings): Promise<Response> {
  const { incoming, outgoing } = env;
  const { method = 'GET', url = '/' } = incoming;
  // Before the daemon is asked: a client that sends nothing holds nothing of it.
  const body = await bodyOf(env);
  if (outgoing.destroyed) return RESPONSE_ALREADY_SENT;
  const sent = line.request(method, url, fieldsFor(env, body));
  return new Promise<Response>((resolve) => {
    sent.on('response', (answer) => send(answer, env));
    sent.on('error', () => {
      if (outgoing.headersSent) outgoing.destroy();
      else resolve(outgoing.destroyed ? RESPONSE_ALREADY_SENT : away(env));
    });
    // Not before: what the framework then does to a body that nobody has read may cut the answer.
    outgoing.once('finish', () => resolve(RESPONSE_ALREADY_SENT));
    outgoing.once('close', () => {
      sent.destroy();
      resolve(RESPONSE_ALREADY_SENT);
    });
    sent.end(body);
  });
}

/** The daemon has ended, and so will this process. */
function away({ incoming: { method = 'GET', headers } }: HttpBindings): Response {
  const header = (name: string): string | undefined => requestField(headers, name);
  return noticeResponse({ method, header }, { ...NOTICES.unavailable, language: null });
}

/** The bodies that a site reads, of browsers' reports and assistants' messages; for one too large the least that the daemon refuses. */
async function bodyOf({ incoming, outgoing }: HttpBindings): Promise<Buffer> {
  const { method, url = '/', headers, httpVersion } = incoming;
  const bytesMax = method === 'POST' ? bodyBytesMax(pathOf(url)) : 0;
  if (bytesMax === 0) return Buffer.alloc(0);
  const isExpected = httpVersion !== '1.0' && headers.expect?.toLowerCase() === '100-continue';
  if (isExpected && Number(headers['content-length'] ?? 0) <= bytesMax) outgoing.writeContinue();
  try {
    const chunks = incoming.iterator({ destroyOnReturn: false });
    return (await collect(chunks, bytesMax)) ?? Buffer.alloc(bytesMax + 1);
  } catch {
    // The client has left.
    outgoing.destroy();
    return Buffer.alloc(0);
  }
}

function bodyBytesMax(path: string): number {
  if (path.endsWith(REPORTS_PATH)) return REPORT_BYTES_MAX;
  return MCP_PATHS.some((each) => path.endsWith(each)) ? BODY_BYTES_MAX : 0;
}

function fieldsFor(env: HttpBindings, body: Buffer): string[] {
  const { method, rawHeaders, headers, socket } = env.incoming;
  const fields: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!name.startsWith(':') && !OF_REQUEST.has(name.toLowerCase())) fields.push(name, rawHeaders[at + 1] ?? '');
  }
  fields.push('Host', headers.host ?? '', PEER_HEADER, socket.remoteAddress ?? '');
  fields.push(REQUEST_ID_HEADER, requestIdOf(env) ?? '');
  if (method !== 'GET' && method !== 'HEAD') fields.push('Content-Length', String(body.length));
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
  answer.on('error', () => outgoing.destroy());
  answer.pipe(outgoing);
}
