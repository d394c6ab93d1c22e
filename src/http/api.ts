import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { DocshelfError } from '../domain/errors.ts';
import type { Search } from '../search/index.ts';
import { answerFault, type FaultHooks } from './answer-fault.ts';
import { readJson } from './api-body.ts';
import { openToAllOrigins } from './api-cors.ts';
import type { Access } from './keys.ts';
import { openApiDocument } from './openapi.ts';
import type { RateVerdict } from './rate-limit.ts';
import type { OrganizationRates } from './rate-limit-organizations.ts';
import { requestIdOf } from './request-id.ts';
import { searchRequestParser } from './search-request.ts';

export interface ApiOptions extends FaultHooks {
  /** As the config is now: one object until that changes. */
  readonly access: () => Access;
  /** Null: this daemon has no such site. */
  readonly search: (domain: string) => Search | null;
  readonly rates: OrganizationRates;
  readonly programVersion: string;
  /** URL under which clients reach this listener; null: the one that they asked. */
  readonly publicUrl: () => string | null;
}

/** The bindings are absent where the app is called without a socket. */
export type ApiEnv = { Bindings: Partial<HttpBindings>; Variables: { rate?: RateVerdict } };

const SEARCH_PATH = '/v1/search/:domain';
const SEARCH_METHODS = 'POST, OPTIONS';

/** A path may be as long as all headers may, 16 KiB. */
const shown = (text: string): string => text.slice(0, 200);

/** The API listener: search, and what describes it. Faults are problem documents (contract section 8), on every path. */
export function createApiApp(options: ApiOptions): Hono<ApiEnv> {
  const { rates, programVersion, publicUrl } = options;
  const app = new Hono<ApiEnv>();

  app.use(async (c, next) => {
    await next();
    c.header('X-Content-Type-Options', 'nosniff');
    if (!c.res.headers.has('Cache-Control')) c.header('Cache-Control', 'no-store');
  });
  app.use(SEARCH_PATH, openToAllOrigins(SEARCH_METHODS));
  app.use(SEARCH_PATH, async (c, next) => {
    await next();
    const verdict = c.get('rate');
    if (verdict === undefined) return;
    for (const [name, value] of Object.entries(rates.headers(verdict))) c.header(name, value);
  });
  app.post(SEARCH_PATH, searchHandler(options));
  app.all(SEARCH_PATH, (c) => refuseMethod(c, SEARCH_METHODS));

  app.get('/openapi.json', (c) => {
    c.header('Cache-Control', 'no-cache');
    return c.json(openApiDocument({ programVersion, publicUrl: publicUrl() }));
  });
  app.all('/openapi.json', (c) => refuseMethod(c, 'GET, HEAD'));

  app.notFound((c) => {
    throw new DocshelfError('not_found', `Cannot answer "${shown(c.req.path)}": the API has no such path`, {
      next: 'What there is is described at /openapi.json.',
    });
  });
  app.onError((cause, c) => answerFault(cause, c.req.raw, requestIdOf(c.env), options));
  return app;
}

function refuseMethod(c: Context<ApiEnv>, allow: string): never {
  throw new DocshelfError('method_not_allowed', `Cannot ${c.req.method} "${shown(c.req.path)}": it answers ${allow}`, {
    fields: { allow },
  });
}

/**
 * One search: key -> rate -> domain -> body -> search.
 *
 * The key comes first, so that a stranger learns nothing of domains, and neither does a key of the wrong type. Then every
 * request of an organization counts, whatever becomes of it, so that faulty ones are no way around the limit; only one that
 * the limit itself refuses does not. A body is read for nobody who is not let in.
 */
function searchHandler({ access, search, rates }: ApiOptions) {
  const parse = searchRequestParser();

  return async (c: Context<ApiEnv, typeof SEARCH_PATH>): Promise<Response> => {
    const { keys, sites } = access();
    const organization = keys.holder(c.req.header('authorization'), 'assistant');
    const verdict = await rates.take(organization.id);
    c.set('rate', verdict);
    if (!verdict.isAllowed) throw rates.fault(verdict);
    const name = c.req.param('domain');
    const site = sites.find(name);
    // Another's domain and one that nobody has look alike.
    if (site === null || site.organization.id !== organization.id) throw noSuchDomain(name);
    const found = search(site.domain);
    if (found === null) throw noSuchDomain(name);
    const request = parse(await readJson(c.req.raw, c.env));
    return c.json(await found.search(request, c.req.raw.signal));
  };
}

function noSuchDomain(name: string): DocshelfError {
  return new DocshelfError('not_found', `Cannot search "${shown(name)}": there is no such domain`, {
    next: 'Name a domain of the organization that the key belongs to, by its label or by one of its hosts.',
  });
}
