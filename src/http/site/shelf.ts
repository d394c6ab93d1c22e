import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import { FORMS, negotiateEncoding } from '../../serve/encoding.ts';
import { NOTICES, noticeResponse, protocolLine, type SiteRequest } from '../../serve/index.ts';
import { evaluatePreconditions } from '../../serve/preconditions.ts';
import { type PageLanguage, preferredLanguage } from '../../web/words/index.ts';
import { answerAsset } from '../hashed-asset.ts';
import { requestIdOf } from '../listener/request-id.ts';
import { pathOf } from '../listener/served-request.ts';
import { siteRequest } from '../listener/site-request.ts';
import { BASE_STYLE, ownAsset } from '../own-asset.ts';
import { pageAnswer } from './page-answer.ts';
import { type ListedSite, SHELF_QUERY_LENGTH_MAX, shelfPage } from './shelf-page.ts';
import { faultAnswer, NOTHING_HERE, type SiteEnv } from './site.ts';
import type { AnswerSiteSearch } from './site-search.ts';

export interface ShelfAppOptions {
  /**
   * Those that every reader may know of, in the order in which they are shown; those that are off are left out.
   * @param host the Host header, for `shelfAddress`
   */
  sites(host: string | undefined): readonly ListedSite[] | Promise<readonly ListedSite[]>;
  /** As the config is now. */
  current(): ShelfState;
  onError?(error: unknown, requestId: string | null): void;
}

export interface ShelfState {
  /** `server.shelf` */
  readonly isOn: boolean;
  /** Over all of the listed: as a site's own, each result with its `site`. */
  readonly search: AnswerSiteSearch | null;
  /** True where a reader who signs in sees more sites. */
  readonly hasMore: boolean;
}

const ASSETS = '_docshelf/assets/';

/** What is answered where no site fits: the shelf page, its search and its files, and 404 for all else. */
export function createShelfApp({ sites, current, onError }: ShelfAppOptions): Hono<SiteEnv> {
  const app = new Hono<SiteEnv>();
  const files = {
    css: ownAsset(new URL('assets/pages.css', import.meta.url), BASE_STYLE),
    js: ownAsset(new URL('assets/shelf.js', import.meta.url)),
    svg: ownAsset(new URL('assets/shelf.svg', import.meta.url)),
  };
  const assets = {
    css: `${ASSETS}${files.css.name}`,
    js: `${ASSETS}${files.js.name}`,
    svg: `${ASSETS}${files.svg.name}`,
  };
  const byPath = new Map(Object.values(files).map((file) => [`/${ASSETS}${file.name}`, file]));

  app.all('*', async (c) => {
    const request = siteRequest(c.req.raw, c.env);
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') return noticeResponse(request, { ...NOTICES.readOnly, language: null });
    const { isOn, search, hasMore } = current();
    const path = pathOf(request.target);
    if (!isOn) return noticeResponse(request, NOTHING_HERE);
    if (path === '/_docshelf/search' && search !== null) return search(c.req.raw, c.env);
    const file = byPath.get(path);
    if (file !== undefined) return answerAsset(file, request.header('accept-encoding'));
    if (path !== '/') return noticeResponse(request, NOTHING_HERE);
    const query = (c.req.query('q') ?? '').trim().slice(0, SHELF_QUERY_LENGTH_MAX).toWellFormed();
    const language = preferredLanguage(request.header('accept-language'));
    const listed = await sites(request.header('host'));
    const hasSearch = search !== null;
    return answerPage(request, language, shelfPage({ language, sites: listed, query, hasSearch, hasMore, assets }));
  });

  app.onError((error, c) => {
    onError?.(error, requestIdOf(c.env));
    return faultAnswer(siteRequest(c.req.raw, c.env));
  });
  return app;
}

async function answerPage(request: SiteRequest, language: PageLanguage, html: string): Promise<Response> {
  const encoding = negotiateEncoding(request.header('accept-encoding'));
  const digest = createHash('sha256').update(html).digest('hex').slice(0, 32);
  const etag = `"${digest}${FORMS[encoding].tag}"`;
  const validators = { ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Accept-Encoding, Accept-Language' };
  // The page has no date of its own: no condition on one holds.
  const outcome = evaluatePreconditions(request, { etag, lastModifiedMs: Number.NaN });
  if (outcome === 'not-modified') return new Response(null, { status: 304, headers: validators });
  if (outcome === 'failed') return protocolLine(request.method, 412, 'Precondition failed');
  return pageAnswer(request, { html, language, encoding, hasScript: true, headers: validators });
}
