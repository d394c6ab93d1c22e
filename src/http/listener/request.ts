import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { isIn, listOf } from '../../net/guarded-address.ts';
import type { SiteRequest } from '../../site/index.ts';
import { clientLeft } from '../problem.ts';

const IPV4_MAPPED = '::ffff:';

/** Finds the client: the last untrusted address in X-Forwarded-For. Each trusted proxy has appended the address of its peer. */
export function remoteAddressBehind(
  trustedProxies: readonly string[],
): (peer: string, forwardedFor: string | undefined) => string {
  const isTrusted = trustedPeers(trustedProxies);

  return (peer, forwardedFor) => {
    let address = unmapped(peer);
    if (forwardedFor === undefined || isIP(address) === 0) return address;
    for (const hop of forwardedFor.split(',').reverse()) {
      if (!isTrusted(address)) return address;
      const named = plainAddress(hop.trim());
      if (named === null) return address;
      address = named;
    }
    return address;
  };
}

export const peerOf = (incoming: IncomingMessage): string => incoming.socket.remoteAddress ?? '';

export function trustedPeers(networks: readonly string[]): (peer: string) => boolean {
  const trusted = listOf(networks);
  return (peer) => {
    const address = unmapped(peer);
    return isIP(address) !== 0 && isIn(trusted, address);
  };
}

const unmapped = (peer: string): string => (peer.startsWith(IPV4_MAPPED) ? (plainAddress(peer) ?? peer) : peer);

/** Removes the port from `1.2.3.4:567` and `[::1]:567`, and converts IPv4-mapped addresses to IPv4. Null for other text. */
function plainAddress(text: string): string | null {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? null : address;
}

/** True for an HTTP/2 request. Does not use `httpVersion`, because a client can write any version into an HTTP/1 request line. */
export const isHttp2 = (incoming: IncomingMessage): boolean => 'stream' in incoming;

export const REQUEST_ID_HEADER = 'X-Request-Id';

/** Pattern of request ids to accept from clients, such as hex, UUIDs and base64. Other ids could forge a log line. */
const SANE_ID = /^[A-Za-z0-9._~+/=:@-]{1,128}$/;

export function requestIdFor(header: string | string[] | undefined): string {
  return typeof header === 'string' && SANE_ID.test(header) ? header : randomUUID();
}

export function requestIdOf(env: Partial<HttpBindings> | undefined): string | null {
  const id = env?.outgoing?.getHeader(REQUEST_ID_HEADER);
  return typeof id === 'string' ? id : null;
}

export function siteRequest(raw: Request, env: Partial<HttpBindings> | undefined): SiteRequest {
  const { incoming } = env ?? {};
  const { method } = raw;
  const id = (): string | null => requestIdOf(env);
  const client = () => untilClientLeaves(raw, env, HALF_OPEN_MS);
  if (incoming === undefined) {
    const { pathname, search } = new URL(raw.url);
    return { method, target: pathname + search, header: (name) => raw.headers.get(name) ?? undefined, id, client };
  }
  // Node joins repeated fields, so the value of every field that docshelf reads is a text (RFC 9110, section 5.3).
  const header = (name: string): string | undefined => incoming.headers[name]?.toString();
  // Do not use `raw.method`, which is in capitals, because methods are case-sensitive (RFC 9110, section 9.1).
  return { method: incoming.method ?? method, target: incoming.url ?? '/', header, id, client };
}

/** Time to continue a request after the client ends its half of the connection, because the client may still read the response. */
const HALF_OPEN_MS = 1_000;

/** Aborts after the client ends its half of the connection, as browsers do to cancel. @param afterMs delay. Default: 0 */
export function untilClientLeaves(
  request: Request,
  env: Partial<HttpBindings> | undefined,
  afterMs = 0,
): Disposable & { readonly signal: AbortSignal } {
  const left = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const leave = (): void => left.abort(clientLeft('answer'));
  const onEnd = (): void => {
    if (afterMs === 0) leave();
    else timer = setTimeout(leave, afterMs).unref();
  };
  env?.incoming?.socket.once('end', onEnd);
  return {
    signal: AbortSignal.any([request.signal, left.signal]),
    [Symbol.dispose]: () => {
      clearTimeout(timer);
      env?.incoming?.socket.off('end', onEnd);
    },
  };
}
