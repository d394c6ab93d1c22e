import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { bareHost } from '../domain/egress.ts';

/**
 * To a daemon of ours, past the gate: commands alone make one, to the socket or the address of its mark, or to the address
 * that the operator names.
 */
export function requestDaemon(target: RequestOptions): ClientRequest {
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return send({ ...target, agent: false });
}

/**
 * Null where it does not answer in time. No certificate is verified, as by Kubernetes' own probes: nothing secret is sent,
 * and the daemon's is for the names that readers ask by.
 */
export async function askDaemon(url: URL, signal: AbortSignal): Promise<Response | null> {
  const { protocol, hostname, port, pathname } = url;
  const target = { protocol, host: bareHost(hostname), port, path: pathname, signal, rejectUnauthorized: false };
  const request = requestDaemon(target).end();
  try {
    const [answer]: IncomingMessage[] = await once(request, 'response');
    return answer === undefined ? null : new Response(await buffer(answer), { status: answer.statusCode ?? 500 });
  } catch {
    return null;
  }
}
