import { once } from 'node:events';
import { type ClientHttp2Session, connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2';
import { request } from 'node:https';
import { text } from 'node:stream/consumers';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';

/** Response as a client of either protocol sees it. */
export interface ReceivedResponse {
  readonly status: number;
  /** Fields in lower case, without `date` and the request id. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

export interface RequestOptions {
  readonly method?: string;
  readonly path?: string;
  readonly host?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string;
}

/** Most tests do not check the certificate. */
const UNVERIFIED = { rejectUnauthorized: false };

export async function requestHttp1(
  port: number,
  { method = 'GET', path = '/', host, headers, body }: RequestOptions,
): Promise<ReceivedResponse> {
  const sent = request({
    ...UNVERIFIED,
    ...{ host: '127.0.0.1', port, method, path, agent: false },
    headers: { ...headers, ...(host === undefined ? {} : { host }), connection: 'close' },
  });
  sent.end(body);
  const [answer] = await once(sent, 'response');
  const { connection: _, 'transfer-encoding': __, ...alike } = answer.headers;
  return { status: answer.statusCode, headers: sameEachTime(alike), body: await text(answer) };
}

export function openHttp2(port: number, options: ConnectionOptions = {}): ClientHttp2Session {
  const session = connectHttp2(`https://127.0.0.1:${port}`, { ...UNVERIFIED, ...options });
  // Tests check the stream, or the end of the session.
  session.on('error', () => undefined);
  return session;
}

export async function requestHttp2(session: ClientHttp2Session, facts: RequestOptions): Promise<ReceivedResponse> {
  const { method = 'GET', path = '/', host, headers, body } = facts;
  const authority = host ?? new URL(session.originSet?.[0] ?? 'https://127.0.0.1').host;
  const stream = session.request({ ':method': method, ':path': path, ':authority': authority, ...headers });
  stream.end(body);
  const [answer] = await once(stream, 'response');
  const { ':status': status, ...alike } = answer;
  return { status, headers: sameEachTime(alike), body: await text(stream) };
}

export async function shakeHands(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, ...UNVERIFIED, ...options });
  await once(socket, 'secureConnect');
  return socket;
}

function sameEachTime(headers: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { date: _, 'x-request-id': __, ...rest } = headers;
  return { ...rest };
}
