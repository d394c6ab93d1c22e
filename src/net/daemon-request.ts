import { once } from 'node:events';
import { type ClientRequest, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { bareHost } from '../domain/egress.ts';

/** Sends a request of a command to a daemon, without the egress policy, because the operator or a heartbeat file named the address. */
export function requestDaemon(target: RequestOptions): ClientRequest {
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return send({ ...target, agent: false });
}

/** Returns null if the daemon does not respond in time. Accepts any certificate, because the request contains no secret. */
export async function askDaemon(
  { protocol, hostname, port, pathname }: URL,
  signal: AbortSignal,
): Promise<Response | null> {
  return answerOf({ protocol, host: bareHost(hostname), port, path: pathname, signal, rejectUnauthorized: false });
}

export async function askSocket(
  socketPath: string,
  path: string,
  headers: OutgoingHttpHeaders,
  signal: AbortSignal,
): Promise<Response | null> {
  return answerOf({ socketPath, path, headers, signal });
}

async function answerOf(target: RequestOptions): Promise<Response | null> {
  const request = requestDaemon(target).end();
  try {
    const [answer]: IncomingMessage[] = await once(request, 'response');
    return answer === undefined ? null : new Response(await buffer(answer), { status: answer.statusCode ?? 500 });
  } catch {
    return null;
  }
}
