import { OWN_HEADERS } from '../../domain/own-headers.ts';
import { type Encoding, encodedBody, negotiateEncoding } from '../../site/encoding.ts';
import type { SiteRequest } from '../../site/index.ts';
import { escapeHtml } from '../../web/escape.ts';
import type { PageLanguage } from '../../web/words/index.ts';

/** Content-Security-Policy. Allows only docshelf's own scripts, styles and addresses, so that injected markup has no effect. */
function policyOf(hasScript: boolean): string {
  const own = [hasScript && 'script-src', 'style-src', 'img-src', hasScript && 'connect-src', 'form-action'];
  const allowed = own.filter(Boolean).map((name) => `${name} 'self'`);
  return ["default-src 'none'", ...allowed, "base-uri 'none'", "frame-ancestors 'none'"].join('; ');
}

const HEADERS = {
  'Content-Type': 'text/html; charset=utf-8',
  // Do not send the reader's search query to other origins.
  'Referrer-Policy': 'same-origin',
  ...OWN_HEADERS,
};

interface OwnPage {
  readonly html: string;
  readonly language: PageLanguage;
  readonly status?: number;
  readonly encoding?: Encoding;
  readonly hasScript?: boolean;
  readonly headers: Readonly<Record<string, string>>;
}

export async function pageAnswer({ method, header }: SiteRequest, page: OwnPage): Promise<Response> {
  const { html, language, status = 200, headers } = page;
  const { encoding = negotiateEncoding(header('accept-encoding')) } = page;
  const { body, headers: form } = await encodedBody(Buffer.from(html), encoding);
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

/** Builds a response with a body, also to a HEAD request, because the framework removes the body of such a response. */
export function documentAnswer(type: string, body: string): Response {
  return new Response(body, {
    headers: {
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'no-cache',
      ...OWN_HEADERS,
    },
  });
}

export const OPEN_SEARCH_PATH = '/_docshelf/opensearch.xml';
export const OPEN_SEARCH_TYPE = 'application/opensearchdescription+xml';

export interface DescribedSearch {
  readonly name: string;
  /** Absolute address of the first page of the site, with a trailing slash. */
  readonly address: string;
  readonly language: PageLanguage;
}

const SHORT_MAX = 16;
const LONG_MAX = 48;
/** Characters that XML cannot contain (XML 1.0, section 2.2). */
const NO_XML = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** Short name of the search. The OpenSearch description and the link to the description must have the same name. */
export const shortName = (name: string): string => cut(name, SHORT_MAX);

/** Responds with a description of the search (OpenSearch 1.1), with which browsers offer the search in their address bar. */
export function openSearchAnswer({ name, address, language }: DescribedSearch): Response {
  const own = address + OPEN_SEARCH_PATH.slice(1);
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${xml(shortName(name))}</ShortName>
<LongName>${xml(cut(name, LONG_MAX))}</LongName>
<Description>${xml(language.words.searchBox.label)}</Description>
<Url type="text/html" method="get" template="${xml(address)}_docshelf/search?q={searchTerms}"/>
<Url type="${OPEN_SEARCH_TYPE}" rel="self" template="${xml(own)}"/>
<Language>${language.tag}</Language>
<InputEncoding>UTF-8</InputEncoding>
<OutputEncoding>UTF-8</OutputEncoding>
</OpenSearchDescription>
`;
  return documentAnswer(OPEN_SEARCH_TYPE, body);
}

const cut = (text: string, charactersMax: number): string => [...text].slice(0, charactersMax).join('').trim();

function xml(text: string): string {
  return escapeHtml(text.toWellFormed().replaceAll(NO_XML, '\ufffd'));
}
