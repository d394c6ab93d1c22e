import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';

export const REQUEST_ID_HEADER = 'X-Request-Id';

/** What tracing tools write: hex, UUIDs, base64. Neither spaces nor quotes, so that no log line can be forged with it. */
const SANE_ID = /^[A-Za-z0-9._~+/=:@-]{1,128}$/;

/** The id that the client sent where it is a sane token, else a random one. */
export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && SANE_ID.test(header) ? header : randomUUID();
}

/** The id that the listener gave the request; null where an app is called without a socket. */
export function requestIdOf(env: Partial<HttpBindings> | undefined): string | null {
  const id = env?.outgoing?.getHeader(REQUEST_ID_HEADER);
  return typeof id === 'string' ? id : null;
}
