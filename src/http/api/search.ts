import type { Context, MiddlewareHandler } from 'hono';
import { searchRequestOf } from '../../domain/search.ts';
import { jsonOf, type Search } from '../../search/index.ts';
import { type RequestCounter, rateFault, rateHeaders } from '../limits/organization-rates.ts';
import { type Route, route } from '../routes.ts';
import { type ApiEnv, noSuchDomain, ownSite } from './auth.ts';
import * as calls from './operations.ts';

export interface SearchApiOptions {
  readonly search: (domain: string) => Search | null;
  readonly rates: RequestCounter;
}

/** Counts each request with a valid key for the rate limit, including invalid requests, but not requests over the limit. */
export function searchRoute({ search, rates }: SearchApiOptions): Route<ApiEnv> {
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
    const answer = await found.search(request, c.req.raw.signal);
    return c.body(jsonOf(answer), 200, { 'Content-Type': 'application/json' });
  });
}

export function tellRate(rates: RequestCounter): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    await next();
    const verdict = c.get('rate');
    if (verdict === undefined) return;
    for (const [name, value] of Object.entries(rateHeaders(rates.policy, verdict))) c.res.headers.set(name, value);
  };
}
