import { randomUUID } from 'node:crypto';
import type { HttpBindings } from '@hono/node-server';

export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Hex, UUIDs, base64: no log line can be forged. */
const SANE_ID = /^[A-Za-z0-9._~+/=:@-]{1,128}$/;

export function requestIdFrom(header: string | string[] | undefined): string {
  return typeof header === 'string' && SANE_ID.test(header) ? header : randomUUID();
}

/** Null where an app is called without a socket. */
export function requestIdOf(env: Partial<HttpBindings> | undefined): string | null {
  const id = env?.outgoing?.getHeader(REQUEST_ID_HEADER);
  return typeof id === 'string' ? id : null;
}
