import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Hono } from 'hono';
import { DocshelfError, errnoOf } from '../../domain/errors.ts';
import { answerAsset, type HashedAsset, hashedAsset } from '../hashed-asset.ts';
import { refuseMethod } from '../routes.ts';
import type { ApiEnv } from './auth.ts';

const PAGE = '/docs';

/** Typed keys are not remembered, and the viewer's online validator is off. */
const START = `SwaggerUIBundle({
  url: 'openapi.json',
  domNode: document.getElementById('docs'),
  deepLinking: true,
  persistAuthorization: false,
  validatorUrl: null,
});`;

/** This origin alone; the style's pictures are inline. */
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

/** Swagger UI over `/openapi.json`, from this process alone. */
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
    return asset === undefined ? c.notFound() : answerAsset(asset, c.req.header('accept-encoding'));
  });
}

/** Relative: they hold behind a proxy's path too. */
function pageOf(assets: readonly ViewerAsset[]): string {
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

interface ViewerAsset extends HashedAsset {
  readonly kind: 'style' | 'script';
}

/** The build copies the viewer here (`scripts/copy-assets.mjs`); sources use the installed package. */
const FOLDERS = [
  new URL('./assets/', import.meta.url),
  new URL('../../../node_modules/swagger-ui-dist/', import.meta.url),
];

const compress = promisify(gzip);

/** On first use: 1.9 MB and 40 ms. A failure is tried again. */
function docsAssets(): () => Promise<readonly ViewerAsset[]> {
  let loaded: Promise<readonly ViewerAsset[]> | null = null;
  return () => {
    loaded ??= Promise.all([
      load('style', 'swagger-ui.css', 'text/css; charset=utf-8'),
      load('script', 'swagger-ui-bundle.js', 'text/javascript; charset=utf-8'),
    ]).catch((error: unknown) => {
      loaded = null;
      throw error;
    });
    return loaded;
  };
}

async function load(kind: ViewerAsset['kind'], fileName: string, type: string): Promise<ViewerAsset> {
  const bytes = await read(fileName);
  return { kind, ...hashedAsset(fileName, { type, bytes, gzipped: await compress(bytes) }) };
}

async function read(fileName: string): Promise<Uint8Array<ArrayBuffer>> {
  for (const folder of FOLDERS) {
    try {
      return await readFile(new URL(fileName, folder));
    } catch (error) {
      if (errnoOf(error) !== 'ENOENT') throw error;
    }
  }
  throw new DocshelfError('cannot_read', `Cannot show the description of the API: "${fileName}" is not installed`, {
    next: 'Install docshelf anew. Meanwhile the description is at /openapi.json.',
  });
}
