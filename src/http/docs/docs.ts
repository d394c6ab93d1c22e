import type { Env, Hono } from 'hono';
import { answerAsset, BASE_STYLE, type HashedAsset, ownAsset } from '../own-asset.ts';
import { refuseMethod } from '../routes.ts';
import type { OpenApiText } from './described-call.ts';
import { docsPage } from './docs-page.ts';

const PAGE = '/docs';

/** This origin alone, and nothing inline. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  'img-src data:',
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** What `/openapi.json` of a listener says, for people. @param document of `openApiDocument` */
export function addDocs<E extends Env>(app: Hono<E>, document: () => object): void {
  let read: Readonly<Record<'css' | 'js', HashedAsset>> | null = null;
  const assets = () => {
    read ??= {
      css: ownAsset(new URL('assets/docs.css', import.meta.url), BASE_STYLE),
      js: ownAsset(new URL('assets/docs.js', import.meta.url)),
    };
    return read;
  };

  app.get(PAGE, (c) => {
    c.header('Content-Security-Policy', POLICY);
    c.header('Referrer-Policy', 'no-referrer');
    c.header('Cache-Control', 'no-cache');
    const { css, js } = assets();
    const files = { css: `docs/${css.name}`, js: `docs/${js.name}` };
    return c.html(docsPage(document() as OpenApiText, files));
  });
  app.all(PAGE, refuseMethod('GET, HEAD'));
  app.get(`${PAGE}/:name`, (c) => {
    const found = Object.values(assets()).find(({ name }) => name === c.req.param('name'));
    return found === undefined ? c.notFound() : answerAsset(found, c.req.header('accept-encoding'));
  });
}
