import { escapeHtml } from '../web/escape-html.ts';
import { type AnswerHeaders, COMMON_HEADERS } from './answer-headers.ts';
import { flatHeaders, type PlainAnswer, toResponse } from './plain-answer.ts';

export interface Notice {
  readonly status: number;
  readonly title: string;
  /** One or two sentences, plain text. */
  readonly text: string;
  readonly headers?: AnswerHeaders;
  /** Posts to the page's own address. `formAction`: where its answer may lead, as the policy writes it. */
  readonly button?: { readonly label: string; readonly formAction: string };
}

const BASE_HEADERS = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding', ...COMMON_HEADERS };

/** Only the page's own style runs: markup in a sentence stays text. */
const policyOf = (button: Notice['button']): string =>
  `default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action ${button?.formAction ?? "'none'"}`;

const STYLE = `:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:canvas;color:canvastext;font:1rem/1.6 system-ui,sans-serif}
main{max-width:34rem;padding:2rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
p{margin:0;overflow-wrap:anywhere}
button{margin-top:1.5rem;padding:.5rem 1.25rem;font:inherit}
small{display:block;margin-top:2rem;opacity:.65}`;

function plain(status: number, headers: AnswerHeaders, text: string): PlainAnswer {
  const body = Buffer.from(text);
  const own = { 'Content-Length': String(body.length) };
  return { status, headers: flatHeaders({ ...BASE_HEADERS, ...headers, ...own }), body };
}

function plainPage({ status, title, text, headers, button }: Notice): PlainAnswer {
  const form = button === undefined ? '' : `\n<form method="post"><button>${escapeHtml(button.label)}</button></form>`;
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escapeHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>${form}
<small>${status} · docshelf</small>
</main>
</body>
</html>
`;
  const own = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': policyOf(button) };
  return plain(status, { ...own, ...headers }, html);
}

/** A notice as one line of text, for scripts, pictures and refused methods. */
function plainText({ status, title, headers }: Omit<Notice, 'text'>): PlainAnswer {
  return plain(status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, `${title}\n`);
}

export function noticePage(method: string, notice: Notice): Response {
  return toResponse(plainPage(notice), method);
}

export function noticeText(method: string, notice: Omit<Notice, 'text'>): Response {
  return toResponse(plainText(notice), method);
}

export const MALFORMED = {
  status: 400,
  title: 'Bad address',
  text: 'The address holds a percent sign that does not stand for a character. Check how the link was written.',
};
const NOT_FOUND = {
  status: 404,
  title: 'Not found',
  text: 'There is no such page in this version of the documentation.',
};
export const MISSING_ASSET = plainText(NOT_FOUND);
export const MISSING_PAGE = plainPage(NOT_FOUND);
