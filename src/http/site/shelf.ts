import { createHash } from 'node:crypto';
import { Hono } from 'hono';
import type { DeployState } from '../../domain/status.ts';
import { FORMS, negotiateEncoding } from '../../site/encoding.ts';
import { NOTICES, noticeResponse, protocolLine, type SiteRequest } from '../../site/index.ts';
import { evaluatePreconditions } from '../../site/preconditions.ts';
import { escapeHtml } from '../../web/escape.ts';
import { languageTag } from '../../web/language-tag.ts';
import { type PageLanguage, preferredLanguage } from '../../web/words/index.ts';
import { requestIdOf, siteRequest } from '../listener/request.ts';
import { pathOf } from '../listener/served-request.ts';
import { languageNames } from './language-names.ts';
import { pageAnswer } from './page-answer.ts';
import { faultAnswer, NOTHING_HERE, type SiteEnv } from './site.ts';
import type { SiteAssets } from './site-assets.ts';
import type { AnswerSiteSearch } from './site-search.ts';

/** Site on the shelf page. Escape its title, description and other texts, because they are untrusted. */
export interface ListedSite {
  readonly domain: string;
  readonly title: string | null;
  readonly description: string | null;
  readonly version: string | null;
  readonly language: string | null;
  /** Date of the version, in RFC 3339. */
  readonly date: string | null;
  /** Address of the site, with a trailing slash: a path of this host (`/docs/`), or an absolute URL. */
  readonly address: string;
  readonly state: DeployState;
}

interface ShelfPage {
  readonly language: PageLanguage;
  readonly sites: readonly ListedSite[];
  readonly query: string;
  readonly hasSearch: boolean;
  readonly hasMore: boolean;
  /** Paths under `_docshelf/`, relative to the page, so that they also work behind a proxy with a path. */
  readonly assets: Readonly<Record<'css' | 'js' | 'svg', string>>;
}

const SHELF_QUERY_LENGTH_MAX = 200;

/**
 * Builds HTML as text, because `hono/html` takes 58 ms for 1,000 sites. Sites that do not match the query are hidden elements,
 * which the script can show later.
 */
function shelfPage({ language, sites, query, hasSearch, hasMore, assets }: ShelfPage): string {
  const words = folded(query).split(/\s+/).filter(Boolean);
  const matching = sites.map((site) => matches(site, words));
  const count = matching.filter(Boolean).length;
  const texts = shelfWords(language);
  const nameLanguage = languageNames(language.tag);
  const items = sites.map((site, at) => siteItem(site, matching[at] === true, texts, nameLanguage));
  return `<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${texts.title}</title>
<link rel="icon" type="image/svg+xml" href="_docshelf/${assets.svg}">
<link rel="stylesheet" href="_docshelf/${assets.css}">
<script type="module" src="_docshelf/${assets.js}"></script>
</head>
<body>
<header>
<h1><img src="_docshelf/${assets.svg}" width="32" height="32" alt="">${texts.title}</h1>
${sites.length === 0 ? '' : searchForm(query, hasSearch, texts)}
</header>
<main>
<p id="status" role="status">${statusOf(count, sites.length, query, texts)}</p>
<ul id="sites">
${items.join('')}</ul>
${hasMore ? `<p><a href="?sign-in">${texts.signIn}</a></p>` : ''}
${hasSearch ? `<section id="found" aria-labelledby="found-title" hidden><h2 id="found-title">${texts.inPages}</h2><div id="results"></div></section>` : ''}
</main>
</body>
</html>
`;
}

type ShelfWords = ReturnType<typeof shelfWords>;

function shelfWords({ words: { shelf, searchBox } }: PageLanguage) {
  const { version, language, busy, notReady, away } = searchBox;
  return { ...shelf, version, language, busy, notReady, away };
}

function searchForm(query: string, hasSearch: boolean, words: ShelfWords): string {
  return `<form role="search" data-words="${escapeHtml(JSON.stringify(words))}"${hasSearch ? ' data-search="_docshelf/search"' : ''}>
<label for="q">${words.findSite}</label>
<div class="box"><input id="q" name="q" type="search" value="${escapeHtml(query)}" maxlength="${SHELF_QUERY_LENGTH_MAX}" autocomplete="off" autocapitalize="off" spellcheck="false" aria-controls="sites"><button>${words.find}</button></div>
</form>`;
}

/** Line with the number of sites, or of sites that match. Its text must be the same as in `assets/shelf.js`. */
function statusOf(count: number, total: number, query: string, words: ShelfWords): string {
  if (total === 0) return words.empty;
  return (query === '' ? words.sites : words.matching).replace('{total}', `${total}`).replace('{count}', `${count}`);
}

function siteItem(
  site: ListedSite,
  isShown: boolean,
  words: ShelfWords,
  nameLanguage: (tag: string) => string,
): string {
  const isServed = site.state === 'ready' || site.state === 'stale';
  const language = site.language === null ? null : languageTag(site.language);
  const lang = language === null ? '' : ` lang="${language}"`;
  const name = escapeHtml(site.title ?? site.domain);
  const facts = [
    site.version === null ? '' : fact(words.version, escapeHtml(site.version)),
    language === null ? '' : fact(words.language, escapeHtml(nameLanguage(language))),
    site.date === null
      ? ''
      : fact(words.date, `<time datetime="${escapeHtml(site.date)}">${escapeHtml(site.date.slice(0, 10))}</time>`),
  ].join('');
  return `<li data-domain="${escapeHtml(site.domain)}"${isShown ? '' : ' hidden'}>
<h2${lang} dir="auto">${isServed ? `<a href="${escapeHtml(site.address)}">${name}</a>` : name}</h2>
${isServed ? '' : `<p class="state">${words.soon}</p>\n`}${site.description === null ? '' : `<p${lang} dir="auto">${escapeHtml(site.description)}</p>\n`}${facts === '' ? '' : `<dl>${facts}</dl>\n`}</li>
`;
}

const fact = (term: string, value: string): string => `<div><dt>${term}</dt><dd>${value}</dd></div>`;

function matches(site: ListedSite, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { domain, title, description, version } = site;
  const text = folded([domain, title, description, version].join(' '));
  return words.every((word) => text.includes(word));
}

/** Removes accents and upper case for a comparison, in the same way as `fold` in `assets/shelf.js`. */
const folded = (text: string): string => text.normalize('NFKD').replaceAll(/\p{M}/gu, '').toLowerCase();

export interface ShelfAppOptions {
  /** Sites to list on the shelf page, without sites in the state `off`. @param host value of the Host header, for `shelfAddress` */
  sites(host: string | undefined): readonly ListedSite[] | Promise<readonly ListedSite[]>;
  current(): ShelfState;
  readonly assets: SiteAssets;
  onError?(error: unknown, requestId: string | null): void;
}

export interface ShelfState {
  readonly isOn: boolean;
  /** Search over all listed sites. Each result has a `site`. */
  readonly search: AnswerSiteSearch | null;
  readonly hasMore: boolean;
}

export function createShelfApp({ sites, current, assets, onError }: ShelfAppOptions): Hono<SiteEnv> {
  const app = new Hono<SiteEnv>();
  app.all('*', async (c) => {
    const request = siteRequest(c.req.raw, c.env);
    const { method } = request;
    if (method !== 'GET' && method !== 'HEAD') return noticeResponse(request, { ...NOTICES.readOnly, language: null });
    const { isOn, search, hasMore } = current();
    const path = pathOf(request.target);
    if (!isOn) return noticeResponse(request, NOTHING_HERE);
    if (path === '/_docshelf/search' && search !== null) return search(c.req.raw, c.env);
    const asset = assets.answer(path, '/', request.header('accept-encoding'), method);
    if (asset !== null) return asset;
    if (path !== '/') return noticeResponse(request, NOTHING_HERE);
    const query = (c.req.query('q') ?? '').trim().slice(0, SHELF_QUERY_LENGTH_MAX).toWellFormed();
    const language = preferredLanguage(request.header('accept-language'));
    const listed = await sites(request.header('host'));
    const page = { language, sites: listed, query, hasSearch: search !== null, hasMore, assets: assets.page };
    return answerPage(request, language, shelfPage(page));
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
  // The shelf page has no modification date, so pass none: request conditions with dates then have no effect.
  const outcome = evaluatePreconditions(request, { etag, lastModifiedMs: Number.NaN });
  if (outcome === 'not-modified') return new Response(null, { status: 304, headers: validators });
  if (outcome === 'failed') return protocolLine(request.method, 412, 'Precondition failed');
  return pageAnswer(request, { html, language, encoding, hasScript: true, headers: validators });
}
