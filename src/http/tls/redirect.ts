import type { HttpBindings } from '@hono/node-server';
import { bareHost, urlHost } from '../../domain/egress.ts';
import { DocshelfError } from '../../domain/errors.ts';
import { requestIdOf } from '../listener/request.ts';
import { problemResponse } from '../problem.ts';

interface RedirectTarget {
  /** Port of the listener with TLS. */
  readonly port: number;
  /** Address for clients. Null: the listener's own port. */
  readonly publicUrl: () => string | null;
  /** A name or address that it has a certificate for: to others a request's Host leads nobody. */
  readonly isCertifiedFor: (host: string) => boolean;
}

/** The same address over TLS. Browsers keep a 301 for good, and a 308 without `no-cache` too. */
export function redirectAnswer(target: RedirectTarget): (request: Request, env: HttpBindings) => Response {
  return (request, env) => {
    const host = bareHost(new URL(request.url).hostname);
    const written = target.publicUrl();
    const publicUrl = written?.startsWith('https:') ? new URL(written) : null;
    const origin = target.isCertifiedFor(host)
      ? `https://${urlHost(host)}${portPart(publicUrl?.port ?? String(target.port))}`
      : publicUrl?.origin;
    if (origin === undefined) return problemResponse(noName(host), requestIdOf(env));
    const { url = '/' } = env.incoming;
    const { pathname, search } = new URL(request.url);
    return new Response(null, {
      status: 308,
      headers: { Location: origin + (url.startsWith('/') ? url : pathname + search), 'Cache-Control': 'no-cache' },
    });
  };
}

function portPart(port: string): string {
  return port === '' || port === '443' ? '' : `:${port}`;
}

function noName(host: string): DocshelfError {
  return new DocshelfError('misdirected', `Cannot lead to "${host}" over HTTPS: no certificate is for that name`, {
    next: 'Ask by a name of the certificate; operators: set publicUrl of the listener, or add a certificate for it.',
  });
}
