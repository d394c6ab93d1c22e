import { type ClientRequest, request as httpRequest, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';

/**
 * To a daemon of ours, past the gate: commands alone make one, to the socket or the address of its mark, or to the address
 * that the operator names.
 */
export function requestDaemon(target: RequestOptions): ClientRequest {
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return send({ ...target, agent: false });
}

/** Null where it does not answer in time. */
export async function askDaemon(url: URL, signal: AbortSignal): Promise<Response | null> {
  return fetch(url, { signal }).catch(() => null);
}
