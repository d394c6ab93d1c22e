import type { Operation } from '../../domain/operation.ts';
import { text } from '../../domain/shape.ts';

const NO_SITE = {
  code: 'not_found',
  description: 'No such site.',
  message: 'Cannot find the site "acme": this daemon has none of that domain',
} as const;

/** What is about versions or bundles stands twice: for the only site, and for each by its domain (contract, section 2.1). */
export function ofSite(operation: Operation): Operation[] {
  const { id, path, parameters, faults = [] } = operation;
  if (!/^\/v1\/(?:versions|bundles|rollback|diff)/.test(path)) return [];
  const summary = `${operation.summary}, of one of several sites`;
  const domain = { description: 'The domain of the site.', schema: text('A domain.'), example: 'acme' };
  return [
    {
      ...operation,
      id: `${id}OfSite`,
      path: sitePath(path),
      summary,
      parameters: { domain, ...parameters },
      faults: [...faults, NO_SITE],
    },
  ];
}

/** `/v1/sites/{domain}/rollback` of `/v1/rollback`. */
export function sitePath(path: string): `/${string}` {
  return `/v1/sites/{domain}${path.slice('/v1'.length)}`;
}
