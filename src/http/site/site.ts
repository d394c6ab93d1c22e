import type { IncomingMessage } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import type { FeatureReport } from '../../domain/feature.ts';
import { OWN_HEADERS } from '../../domain/own-headers.ts';
import { VERSION_ADDRESSES } from '../../domain/release.ts';
import type { DeployState } from '../../domain/status.ts';
import {
  isServiceWorkerScript,
  type NoticeRequest,
  noticeResponse,
  type SiteRequest,
  type SiteServer,
} from '../../site/index.ts';
import { isPagePart } from '../../web/media-type.ts';
import { type StrippedTarget, stripBase } from '../../web/mount/base-path.ts';
import { requestIdOf, siteRequest } from '../listener/request.ts';
import { pathOf, tagVersion } from '../listener/served-request.ts';
import { type DescribedSearch, documentAnswer, OPEN_SEARCH_PATH, openSearchAnswer } from './page-answer.ts';
import { type PageReports, REPORTS_PATH } from './page-reports.ts';
import type { SiteAssets } from './site-assets.ts';
import type { AnswerSiteSearch } from './site-search.ts';
import { type VersionSource, versionAnswer } from './version-answers.ts';

interface SiteAppOptions {
  readonly server: SiteServer;
  /** Base path with a trailing slash. The targets of requests start with this path. */
  readonly basePath: string;
  state(): DeployState;
  hasFailed(): boolean;
  features(): FeatureReport;
  /** Search of the site. Undefined if it is off. */
  readonly search?: AnswerSiteSearch | undefined;
  describedSearch(): Promise<DescribedSearch | null>;
  readonly reports: PageReports;
  readonly versions: VersionSource;
  readonly assets: SiteAssets;
  mcp(): AnswerSiteSearch | null;
  /** Called before a 404 for an asset that another daemon's release can contain. @returns true if the releases have changed */
  refreshFromDisk(): Promise<boolean>;
  onError(error: unknown, requestId: string | null): void;
}

export type SiteEnv = { Bindings: Partial<HttpBindings> };

function nothingServed(request: SiteRequest, state: DeployState, hasFailed: boolean): Response {
  const notice = { language: null, form: 'page' } as const;
  if (state === 'off') return noticeResponse(request, { status: 404, words: 'off', ...notice });
  const words = hasFailed ? 'notLoaded' : 'notReady';
  return noticeResponse(request, { status: 503, words, headers: { 'Retry-After': '5' }, ...notice });
}

export const NOTHING_HERE = { status: 404, words: 'nothingHere', language: null, form: 'page' } as const;

/** Script of a service worker that unregisters itself, so that docshelf serves the pages again. */
const RETIRED_WORKER = `addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(retire()));
async function retire() {
  await registration.unregister();
  const pages = await clients.matchAll({ type: 'window' });
  await Promise.allSettled(pages.map((page) => page.navigate(page.url)));
}
`;

const WORKER_TYPE = /^(?:application|text)\/(?:x-)?(?:java|ecma)script(?:;|$)/i;

/** Unregisters a service worker whose script is missing, redirected or invalid. Browsers would otherwise keep it for ever. */
export function forWorker(
  { headers, method }: Pick<IncomingMessage, 'headers' | 'method'>,
  answer: Response | Promise<Response>,
): Response | Promise<Response> {
  const worker = headers['service-worker'];
  if (worker === undefined || !isServiceWorkerScript(worker.toString())) return answer;
  return Promise.resolve(answer).then(async (found) => {
    const isMoved = found.status >= 300 && found.status < 400 && found.status !== 304;
    const isOther = found.status === 200 && !WORKER_TYPE.test(found.headers.get('Content-Type') ?? '');
    if (!isMoved && !isOther && found.status !== 404 && found.status !== 410) return found;
    await found.body?.cancel();
    return new Response(method === 'HEAD' ? null : RETIRED_WORKER, {
      headers: {
        ...OWN_HEADERS,
        'Content-Type': 'text/javascript; charset=utf-8',
        'Content-Length': String(Buffer.byteLength(RETIRED_WORKER)),
        'Cache-Control': 'no-store',
        // Permit any scope for the new worker, because the scope of the old worker can be wider than the folder of its script.
        'Service-Worker-Allowed': '/',
        Vary: 'Service-Worker',
      },
    });
  });
}

export function outsideAnswer(
  request: NoticeRequest,
  stripped: Exclude<StrippedTarget, { readonly kind: 'inside' }>,
): Response {
  if (stripped.kind === 'outside') return noticeResponse(request, NOTHING_HERE);
  return new Response(null, { status: 308, headers: { Location: stripped.location, ...REDIRECT_HEADERS } });
}

export function faultAnswer(request: NoticeRequest): Response {
  return noticeResponse(request, { status: 500, words: 'unavailable', language: null });
}

const REDIRECT_HEADERS = { 'Content-Length': '0', 'Cache-Control': 'no-cache' };

/** docshelf's own paths for GET, under the base path. They take precedence over pages of the site. */
export const READ_ROUTES = [
  '/_docshelf/features.json',
  '/_docshelf/search',
  OPEN_SEARCH_PATH,
  '/_docshelf/versions.json',
] as const;

/** Paths of the MCP endpoint under the base path. A page of the site takes precedence over `/mcp`. */
const MCP_PATHS = ['/_docshelf/mcp', '/mcp'] as const;

/** True for the paths of the MCP endpoint. @param host requested host, to ignore a rule that redirects to the requested address itself */
function isMcp(path: string, server: SiteServer, host: string | undefined): boolean {
  const [own, short] = MCP_PATHS;
  return path === own || (path === short && !hasOwn(short, server, host));
}

/** True if the site has a file or a rule for the path. Ignores `index.html` as a fallback for all paths. */
function hasOwn(path: string, { current }: SiteServer, host: string | undefined): boolean {
  const found = current?.find(path.slice(1), { query: '', host }) ?? null;
  if (found === null || found instanceof Promise || found.kind === 'missing') return found instanceof Promise;
  return found.kind === 'redirect' || found.file.path !== 'index.html';
}

/** Routes by the raw target, because the framework normalises URLs and takes their host from the Host header. */
export function createSiteApp(options: SiteAppOptions): Hono<SiteEnv> {
  const { server, basePath, features, search, reports, versions, assets } = options;
  const app = new Hono<SiteEnv>();

  const reads: Readonly<Record<(typeof READ_ROUTES)[number], AnswerSiteSearch | undefined>> = {
    '/_docshelf/features.json': async () => documentAnswer('application/json', JSON.stringify(features())),
    '/_docshelf/search': search,
    [OPEN_SEARCH_PATH]: async (raw, env) => {
      const described = await options.describedSearch();
      if (described !== null) return openSearchAnswer(described);
      return noticeResponse(siteRequest(raw, env), { ...NOTHING_HERE, form: 'line' });
    },
    '/_docshelf/versions.json': async () => documentAnswer('application/json', JSON.stringify(await versions.list())),
  };
  const byPath = new Map(Object.entries(reads));

  const answerSite = (request: SiteRequest, isRead: boolean): Response | Promise<Response> =>
    isRead && server.current === null
      ? nothingServed(request, options.state(), options.hasFailed())
      : respondOrRefresh(server, request, () => options.refreshFromDisk());

  app.all('*', (c): Response | Promise<Response> => {
    const asked = siteRequest(c.req.raw, c.env);
    const stripped = stripBase(asked.target, basePath);
    if (stripped.kind !== 'inside') return outsideAnswer(asked, stripped);
    const path = pathOf(stripped.target);
    const isRead = asked.method === 'GET' || asked.method === 'HEAD';
    const read = isRead ? byPath.get(path) : undefined;
    if (read !== undefined) return read(c.req.raw, c.env);
    if (asked.method === 'POST' && path === REPORTS_PATH) return reports.answer(c.req.raw);
    const asset = assets.answer(path, basePath, asked.header('accept-encoding'), asked.method);
    if (asset) return asset;
    const assistants = isMcp(path, server, asked.header('host')) ? options.mcp() : null;
    if (assistants !== null) return assistants(c.req.raw, c.env);
    const request = basePath === '/' ? asked : { ...asked, target: stripped.target };
    if (!isRead || !path.startsWith(VERSION_ADDRESSES)) return answerSite(request, isRead);
    const onVersion = (version: string): void => tagVersion(c.env?.incoming, version);
    return versionAnswer(request, versions, basePath, onVersion).then((found) => found ?? answerSite(request, isRead));
  });

  app.onError((error, c) => {
    options.onError(error, requestIdOf(c.env));
    return faultAnswer(siteRequest(c.req.raw, c.env));
  });
  return app;
}

function respondOrRefresh(server: SiteServer, request: SiteRequest, refreshFromDisk: () => Promise<boolean>) {
  const answering = server.respond(request);
  const mayBeNew = isPagePart(pathOf(request.target)) || isServiceWorkerScript(request.header('service-worker'));
  if (!mayBeNew) return answering;
  return Promise.resolve(answering).then(async (answer) => {
    if (answer.status !== 404 || !(await refreshFromDisk())) return answer;
    await answer.body?.cancel();
    return server.respond(request);
  });
}
