import type { HttpBindings } from '@hono/node-server';
import type { SiteRequest } from '../../serve/index.ts';
import { clientLeft } from '../problem.ts';
import { requestField } from './request-field.ts';
import { requestIdOf } from './request-id.ts';

/** A request as the serving side reads it: its target as it came. */
export function siteRequest(raw: Request, env: Partial<HttpBindings> | undefined): SiteRequest {
  const { incoming } = env ?? {};
  const { method } = raw;
  const id = (): string | null => requestIdOf(env);
  const client = () => untilClientLeaves(raw, env, HALF_OPEN_MS);
  if (incoming === undefined) {
    const { pathname, search } = new URL(raw.url);
    return { method, target: pathname + search, header: (name) => raw.headers.get(name) ?? undefined, id, client };
  }
  const header = (name: string): string | undefined => requestField(incoming.headers, name);
  // As it came: that of `raw` is in capitals, and methods have a case (RFC 9110, section 9.1).
  return { method: incoming.method ?? method, target: incoming.url ?? '/', header, id, client };
}

/** Clients that only end their half of the connection after a request wait for its answer. */
const HALF_OPEN_MS = 1_000;

/**
 * A browser that gives a request up ends its half of the connection first, which answers from files outlive.
 * @param afterMs from that end on. Default: at once
 */
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
