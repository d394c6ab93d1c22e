import { createHash } from 'node:crypto';
import type { Context, Hono } from 'hono';
import { refuseMethod } from '../routes.ts';
import { type Asset, docsAssets } from './docs-assets.ts';
import type { ApiEnv } from './env.ts';

/** The path of the page; what it loads is below it, and named by its content. */
const PAGE = '/docs';

/** Nothing is remembered of keys that a reader types in, and nothing is asked of the validator that the viewer knows of. */
const START = `SwaggerUIBundle({
  url: 'openapi.json',
  domNode: document.getElementById('docs'),
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});`;

/** Only this origin is talked to. The pictures of the viewer's style are in the style itself. */
const POLICY = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash('sha256').update(START).digest('base64')}'`,
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The description of the API for people: swagger-ui over `/openapi.json`, all of it from this process. */
export function addDocs(app: Hono<ApiEnv>): void {
  const assets = docsAssets();

  app.get(PAGE, async (c) => {
    c.header('Content-Security-Policy', POLICY);
    c.header('Referrer-Policy', 'no-referrer');
    c.header('Cache-Control', 'no-cache');
    return c.html(pageOf(await assets()));
  });
  app.all(PAGE, refuseMethod('GET, HEAD'));
  app.get(`${PAGE}/:name`, async (c) => {
    const asset = (await assets()).find(({ name }) => name === c.req.param('name'));
    return asset === undefined ? c.notFound() : answerAsset(c, asset);
  });
}

/** Addresses are relative to the page, so that they hold behind a proxy's path too. */
function pageOf(assets: readonly Asset[]): string {
  const loads = assets.map(({ name, kind }) =>
    kind === 'style' ? `<link rel="stylesheet" href="docs/${name}">` : `<script src="docs/${name}" defer></script>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>docshelf API</title>
<link rel="icon" href="data:,">
${loads.join('\n')}
</head>
<body>
<div id="docs"></div>
<noscript>This page needs JavaScript. The same is at <a href="openapi.json">openapi.json</a>.</noscript>
<script type="module">${START}</script>
</body>
</html>
`;
}

function answerAsset(c: Context<ApiEnv>, { type, bytes, gzipped }: Asset): Response {
  const isGzipped = /\bgzip\b/.test(c.req.header('accept-encoding') ?? '');
  const body = isGzipped ? gzipped : bytes;
  return c.body(body, 200, {
    'Content-Type': type,
    'Content-Length': String(body.length),
    'Cache-Control': 'public, max-age=31536000, immutable',
    Vary: 'Accept-Encoding',
    ...(isGzipped ? { 'Content-Encoding': 'gzip' } : {}),
  });
}
