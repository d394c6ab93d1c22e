import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { DocshelfError } from '../../domain/errors.ts';
import { searchRequestOf } from '../../domain/search.ts';
import type { ExportService } from '../../export/index.ts';
import type { Search } from '../../search/index.ts';
import type { Tracer } from '../../traces/tracer.ts';
import { addDocs } from '../docs/docs.ts';
import { type RequestCounter, rateFault, rateHeaders } from '../limits/organization-rates.ts';
import { requestIdOf } from '../listener/request.ts';
import { type OpenApiDocument, type OwnNames, openApiDocument, withOwnNames } from '../openapi.ts';
import { answerFault, type FaultHooks } from '../problem.ts';
import { addRoutes, honoPath, openToAllOrigins, type Route, refuseMethod, route, shown } from '../routes.ts';
import { type ApiEnv, type KeyChecks, noSuchDomain, ownSite, requireExportPlan, requireKey } from './auth.ts';
import { type AnswerDownload, DOWNLOAD_PATH, type ExportApiOptions, exportRoutes } from './exports.ts';
import { API_INFO, calls } from './operations.ts';

export interface ApiOptions extends FaultHooks, KeyChecks {
  readonly search?: (domain: string) => Search | null;
  readonly rates: RequestCounter;
  readonly exports?: ExportService;
  readonly audit: ExportApiOptions['audit'];
  /** Serves bundle links. Absent if bundle links point to another server, such as S3. */
  readonly download?: AnswerDownload;
  readonly tracer: Tracer;
  readonly programVersion: string;
  readonly publicUrl: () => string | null;
  readonly ownSite: () => OwnNames | null;
}

const READ_METHODS = 'GET, HEAD';

export function createApiApp(options: ApiOptions): Hono<ApiEnv> {
  const { search, rates, exports, download, programVersion, publicUrl, tracer } = options;
  const app = new Hono<ApiEnv>();

  app.use(async (c, next) => {
    await next();
    // Do not use `c.header`, because it creates a new response, which the adapter for Node would send as a stream.
    const { headers } = c.res;
    headers.set('X-Content-Type-Options', 'nosniff');
    if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
  });

  const routes = [
    ...(search === undefined ? [] : [searchRoute(search, rates)]),
    ...(exports === undefined ? [] : exportRoutes({ exports, publicUrl, audit: options.audit })),
  ];
  for (const { method, path } of [calls.startExport, calls.linkBundle]) {
    app.on([method], [honoPath(path)], traceCalls(tracer, path));
  }
  app.use('/v1/search/*', sendRateHeaders(rates));
  addRoutes(app, routes, {
    assistantKey: [requireKey(options, 'assistant')],
    adminKey: [requireKey(options, 'admin'), requireExportPlan],
  });

  if (search === undefined) {
    app.use('/v1/search/*', openToAllOrigins('POST, OPTIONS'));
    app.all('/v1/search/*', () => {
      throw turnedOff('search_off', 'Cannot search: search is turned off in this daemon', 'search.enabled');
    });
  }
  if (exports === undefined) {
    app.all('/v1/static-export/*', () => {
      throw turnedOff('export_off', 'Cannot export: static exports are turned off in this daemon', 'exportApi.enabled');
    });
  }
  if (download !== undefined) {
    app.get(DOWNLOAD_PATH, (c) => download(c));
    app.all(DOWNLOAD_PATH, refuseMethod(READ_METHODS));
  }

  const description = (): OpenApiDocument => {
    const operations = routes.map(({ operation }) => operation);
    const document = openApiDocument(operations, { ...API_INFO, programVersion, publicUrl: publicUrl() });
    const own = options.ownSite();
    return own === null ? document : withOwnNames(document, own);
  };
  app.get('/openapi.json', (c) => {
    c.header('Cache-Control', 'no-cache');
    return c.json(description());
  });
  app.all('/openapi.json', refuseMethod(READ_METHODS));
  addDocs(app, description);

  app.notFound((c) => {
    throw new DocshelfError('not_found', `Cannot find "${shown(c.req.path)}": the API has no such path`, {
      next: 'See /openapi.json or /docs for all paths.',
    });
  });
  app.onError((cause, c) => answerFault(cause, c.req.raw, requestIdOf(c.env), { ...options, isPublic: true }));
  return app;
}

function turnedOff(code: 'search_off' | 'export_off', message: string, key: string): DocshelfError {
  return new DocshelfError(code, message, {
    next: `The operator of this service can turn this function on with ${key}.`,
  });
}

/** Records a server span per call, in the trace of the caller if the request has one (OpenTelemetry's HTTP conventions). */
function traceCalls(tracer: Tracer, path: string): MiddlewareHandler<ApiEnv> {
  return (c, next) => {
    const { method } = c.req;
    const parent = c.req.header('traceparent') ?? null;
    const facts = { 'http.request.method': method, 'http.route': path };
    return tracer.span(`${method} ${path}`, { kind: 'server', parent, facts }, async (span) => {
      await next();
      const { status } = c.res;
      // Mark the span as failed only for server errors, because other errors are the caller's.
      if (status >= 500) span.fail(c.error);
      span.note({ 'http.response.status_code': status });
    });
  };
}

/** Counts each request with a valid key for the rate limit, including invalid requests, but not requests over the limit. */
function searchRoute(search: (domain: string) => Search | null, rates: RequestCounter): Route<ApiEnv> {
  return route(calls.search, async (c: Context<ApiEnv>, { body }) => {
    const verdict = await rates.take(c.var.caller.organization.id);
    if (verdict !== null) {
      c.set('rate', verdict);
      if (!verdict.isAllowed) throw rateFault(rates.policy, verdict);
    }
    const name = c.req.param('domain') ?? '';
    const found = search(ownSite(c, 'search', name).domain);
    if (found === null) throw noSuchDomain('search', name);
    const request = searchRequestOf(await body());
    const { json } = await found.search(request, c.req.raw.signal);
    return c.body(json, 200, { 'Content-Type': 'application/json' });
  });
}

function sendRateHeaders(rates: RequestCounter): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    await next();
    const verdict = c.get('rate');
    if (verdict === undefined) return;
    for (const [name, value] of Object.entries(rateHeaders(rates.policy, verdict))) c.res.headers.set(name, value);
  };
}
