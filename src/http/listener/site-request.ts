import type { HttpBindings } from '@hono/node-server';
import type { SiteRequest } from '../../serve/index.ts';
import { requestField } from './request-field.ts';
import { requestIdOf } from './request-id.ts';

/** A request as the serving side reads it: its target as it came. */
export function siteRequest(raw: Request, env: Partial<HttpBindings> | undefined): SiteRequest {
  const { incoming } = env ?? {};
  const { method } = raw;
  const id = (): string | null => requestIdOf(env);
  if (incoming === undefined) {
    const { pathname, search } = new URL(raw.url);
    return { method, target: pathname + search, header: (name) => raw.headers.get(name) ?? undefined, id };
  }
  const header = (name: string): string | undefined => requestField(incoming.headers, name);
  // As it came: that of `raw` is in capitals, and methods have a case (RFC 9110, section 9.1).
  return { method: incoming.method ?? method, target: incoming.url ?? '/', header, id };
}
