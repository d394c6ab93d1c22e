import { escapeHtml } from '../web/escape-html.ts';
import { type AnswerHeaders, COMMON_HEADERS } from './site-file.ts';

export interface Notice {
  readonly status: number;
  readonly title: string;
  /** One or two sentences, plain text. */
  readonly text: string;
  readonly headers?: AnswerHeaders;
}

const BASE_HEADERS = { 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding', ...COMMON_HEADERS };

/** Only the page's own style runs: markup in a sentence stays text. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";

const STYLE = `:root{color-scheme:light dark}
body{margin:0;min-height:100vh;display:grid;place-items:center;background:canvas;color:canvastext;font:1rem/1.6 system-ui,sans-serif}
main{max-width:34rem;padding:2rem}
h1{font-size:1.5rem;line-height:1.25;margin:0 0 .75rem}
p{margin:0;overflow-wrap:anywhere}
small{display:block;margin-top:2rem;opacity:.65}`;

function respond(method: string, status: number, headers: AnswerHeaders, body: string): Response {
  const own = { 'Content-Length': String(Buffer.byteLength(body)) };
  return new Response(method === 'HEAD' ? null : body, { status, headers: { ...BASE_HEADERS, ...headers, ...own } });
}

export function noticePage(method: string, { status, title, text, headers }: Notice): Response {
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
<p>${escapeHtml(text)}</p>
<small>${status} · docshelf</small>
</main>
</body>
</html>
`;
  const own = { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': POLICY };
  return respond(method, status, { ...own, ...headers }, html);
}

/** A notice as one line of text, for scripts, pictures and refused methods. */
export function noticeText(method: string, { status, title, headers }: Omit<Notice, 'text'>): Response {
  return respond(method, status, { 'Content-Type': 'text/plain; charset=utf-8', ...headers }, `${title}\n`);
}
