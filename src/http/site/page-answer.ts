import { type Encoding, negotiateEncoding } from '../../serve/encoding.ts';
import { OWN_HEADERS, type SiteRequest } from '../../serve/index.ts';
import type { PageLanguage } from '../../web/words/index.ts';
import { madeBody } from '../made-body.ts';

/** No script, style or address but docshelf's own: what a site says that gets through as markup can do nothing. */
function policyOf(hasScript: boolean): string {
  const own = [hasScript && 'script-src', 'style-src', 'img-src', hasScript && 'connect-src', 'form-action'];
  const allowed = own.filter(Boolean).map((name) => `${name} 'self'`);
  return ["default-src 'none'", ...allowed, "base-uri 'none'", "frame-ancestors 'none'"].join('; ');
}

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  // What a reader looks for is no other origin's business.
  'Referrer-Policy': 'same-origin',
  ...OWN_HEADERS,
};

export interface OwnPage {
  readonly html: string;
  readonly language: PageLanguage;
  readonly status?: number;
  /** By default as the request accepts it. */
  readonly encoding?: Encoding;
  /** Default false. */
  readonly hasScript?: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

/** One of docshelf's own pages, made for its reader. */
export async function pageAnswer({ method, header }: SiteRequest, page: OwnPage): Promise<Response> {
  const { html, language, status = 200, headers } = page;
  const { encoding = negotiateEncoding(header('accept-encoding')) } = page;
  const { body, headers: form } = await madeBody(Buffer.from(html), encoding);
  return new Response(method === 'HEAD' ? null : body, {
    status,
    headers: {
      ...HEADERS,
      'Content-Security-Policy': policyOf(page.hasScript === true),
      ...headers,
      'Content-Language': language.tag,
      ...form,
    },
  });
}

/** A document of docshelf's own for programs, as it is at this moment. */
export function documentAnswer(method: string, type: string, body: string): Response {
  return new Response(method === 'HEAD' ? null : body, {
    headers: {
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-cache',
      ...OWN_HEADERS,
    },
  });
}
