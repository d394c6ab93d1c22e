import { type AnswerHeaders, OWN_HEADERS } from '../domain/own-headers.ts';
import { escapeHtml } from '../web/escape.ts';
import { type PageLanguage, preferredLanguage, type ReaderWords } from '../web/words/index.ts';
import type { SiteRequest } from './request.ts';

export interface Notice {
  readonly status: number;
  readonly words: keyof ReaderWords['notices'];
  /** Language of the response. If null, docshelf uses the reader's language. */
  readonly language: PageLanguage | null;
  /** `page` is a page for readers, `line` is one line for scripts and pictures. By default, the `Accept` header decides. */
  readonly form?: 'page' | 'line';
  readonly headers?: AnswerHeaders;
  /** Origins to allow in `form-action`, because the response to the page's form can redirect to them. */
  readonly formAction?: string;
  readonly search?: SearchForm | null;
}

export interface SearchForm {
  readonly address: string;
  readonly version: string | null;
}

export type NoticeRequest = Pick<SiteRequest, 'method' | 'header'>;

const BASE_HEADERS = { 'Cache-Control': 'no-cache', ...OWN_HEADERS };

/** Content-Security-Policy of a notice. Forbids all scripts, even if the text of the notice contains markup. */
const policyOf = (formAction = "'none'"): string =>
  `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action ${formAction}`;

const STYLE = `:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:canvas;color:canvastext;font:1rem/1.6 system-ui,sans-serif}
main{max-width:34rem;padding:2rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
p{margin:0;overflow-wrap:anywhere}
button{margin-top:1.5rem;padding:.5rem 1.25rem;font:inherit}
[role=search]{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:1.5rem}
[role=search] *{margin:0;font:inherit}
label{flex:1 0 100%}
input{flex:1;min-width:0;padding:.5rem}`;

function plain(method: string, status: number, headers: AnswerHeaders, text: string): Response {
  const body = Buffer.from(text);
  const own = { 'Content-Length': String(body.length) };
  return new Response(method === 'HEAD' ? null : body, { status, headers: { ...BASE_HEADERS, ...headers, ...own } });
}

interface InLanguage extends Omit<Notice, 'form'> {
  readonly method: string;
  readonly language: PageLanguage;
}

function searchForm({ address, version }: SearchForm, { searchBox }: ReaderWords): string {
  const hidden = version === null ? '' : `<input type="hidden" name="version" value="${escapeHtml(version)}">`;
  return `
<form role="search" action="${escapeHtml(address)}">${hidden}<label for="q">${escapeHtml(searchBox.label)}</label>
<input id="q" name="q" type="search" maxlength="1000"><button>${escapeHtml(searchBox.open)}</button></form>`;
}

function plainPage({ method, status, words, language, headers, formAction, search = null }: InLanguage): Response {
  const { tag, direction } = language;
  const [title = '', text = '', label] = language.words.notices[words].split('\n').map(escapeHtml);
  const button = label === undefined ? '' : `\n<form method="post"><button>${label}</button></form>`;
  const html = `<!doctype html>
<html lang="${tag}" dir="${direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${title}</h1>
<p>${text}</p>${button}${search === null ? '' : searchForm(search, language.words)}
</main>
</body>
</html>
`;
  const own = {
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Language': tag,
    'Content-Security-Policy': policyOf(formAction ?? (search === null ? undefined : "'self'")),
  };
  return plain(method, status, { ...own, ...headers }, html);
}

function plainLine({ method, status, words, language, headers }: InLanguage): Response {
  const own = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Language': language.tag };
  return plain(method, status, { ...own, ...headers }, `${language.words.notices[words].replace(/\n.*/s, '')}\n`);
}

export function noticeResponse(
  { method, header }: NoticeRequest,
  { form, language, headers, ...notice }: Notice,
): Response {
  const vary = ['Accept-Encoding'];
  if (form === undefined) vary.push('Accept');
  if (language === null) vary.push('Accept-Language');
  const isPage = form === undefined ? header('accept')?.includes('text/html') === true : form === 'page';
  return (isPage ? plainPage : plainLine)({
    ...notice,
    method,
    language: language ?? preferredLanguage(header('accept-language')),
    headers: { Vary: vary.join(', '), ...headers },
  });
}

export function protocolLine(method: string, status: number, line: string, headers: AnswerHeaders = {}): Response {
  const own = { 'Content-Type': 'text/plain; charset=utf-8', Vary: 'Accept-Encoding' };
  return plain(method, status, { ...own, ...headers }, `${line}\n`);
}

export const NOTICES = {
  readOnly: { status: 405, words: 'readOnly', headers: { Allow: 'GET, HEAD' } },
  malformed: { status: 400, words: 'badAddress', form: 'page' },
  unavailable: { status: 503, words: 'unavailable', headers: { 'Retry-After': '5' } },
} as const;
