import type { Context, Hono } from 'hono';
import type { Search } from '../../search/index.ts';
import type { OrganizationRates } from '../limits/organization-rates.ts';
import { searchBody } from '../search-body.ts';
import { searchRequestParser } from '../search-request.ts';
import { noSuchDomain, ownSite, requireKey } from './auth.ts';
import { readJson } from './body.ts';
import { openToAllOrigins } from './cors.ts';
import { type ApiEnv, refuseMethod } from './env.ts';
import type { Access } from './keys.ts';

export interface SearchApiOptions {
  readonly access: () => Access;
  /** Null: this daemon has no such site. */
  readonly search: (domain: string) => Search | null;
  readonly rates: OrganizationRates;
}

const PATH = '/v1/search/:domain';
const METHODS = 'POST, OPTIONS';

/** `POST /v1/search/{domain}` (contract, section 5). */
export function addSearch(app: Hono<ApiEnv>, options: SearchApiOptions): void {
  const { access, rates } = options;
  app.use(PATH, openToAllOrigins(METHODS));
  app.use(PATH, async (c, next) => {
    await next();
    const verdict = c.get('rate');
    if (verdict === undefined) return;
    for (const [name, value] of Object.entries(rates.headers(verdict))) c.res.headers.set(name, value);
  });
  app.post(PATH, requireKey(access, 'assistant'), searchHandler(options));
  app.all(PATH, refuseMethod(METHODS));
}

/**
 * One search: key -> rate -> domain -> body -> search.
 *
 * After the key, every request of an organization counts, whatever becomes of it, so that faulty ones are no way around the
 * limit; only one that the limit itself refuses does not. A body is read for nobody who is not let in.
 */
function searchHandler({ search, rates }: SearchApiOptions) {
  const parse = searchRequestParser();

  return async (c: Context<ApiEnv, typeof PATH>): Promise<Response> => {
    const verdict = await rates.take(c.var.caller.organization.id);
    c.set('rate', verdict);
    if (!verdict.isAllowed) throw rates.fault(verdict);
    const name = c.req.param('domain');
    const found = search(ownSite(c, 'search', name).domain);
    if (found === null) throw noSuchDomain('search', name);
    const request = parse(await readJson(c.req.raw, c.env));
    const answer = await found.search(request, c.req.raw.signal);
    return c.body(searchBody(answer), 200, { 'Content-Type': 'application/json' });
  };
}
