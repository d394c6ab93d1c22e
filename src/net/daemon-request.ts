import { once } from 'node:events';
import {
  Agent,
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
} from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { bareHost } from '../domain/egress.ts';

/**
 * To a daemon of ours, past the gate: commands and its own serving processes alone make one, to the socket or the address of its
 * mark, or to the address that the operator names.
 */
export function requestDaemon(target: RequestOptions): ClientRequest {
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return send({ ...target, agent: false });
}

/**
 * Null where it does not answer in time. No certificate is verified, as by Kubernetes' own probes: nothing secret is sent,
 * and the daemon's is for the names that readers ask by.
 */
export async function askDaemon(
  { protocol, hostname, port, pathname }: URL,
  signal: AbortSignal,
): Promise<Response | null> {
  return answerOf({ protocol, host: bareHost(hostname), port, path: pathname, signal, rejectUnauthorized: false });
}

/** Null where nothing answers at the socket in time. */
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

/** Shorter than the daemon keeps a connection, so that none is closed as a request is sent into it. */
const IDLE_MS_MAX = 30_000;

/**
 * Connections to the daemon's socket that are kept for the next request. As many as requests wait for it, which the listeners bound:
 * with fewer, one client's slow requests would keep all others waiting.
 */
export class DaemonLine {
  readonly #socketPath: string;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, timeout: IDLE_MS_MAX });

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** @param headers names and values in turns, as they are sent */
  request(method: string, path: string, headers: readonly string[]): ClientRequest {
    const [socketPath, agent] = [this.#socketPath, this.#agent];
    return httpRequest({ socketPath, agent, method, path, headers: headers as unknown as OutgoingHttpHeaders });
  }

  close(): void {
    this.#agent.destroy();
  }
}
