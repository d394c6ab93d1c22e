import type { Config } from '../../config/index.ts';
import { DocshelfError } from '../../domain/errors.ts';

/** The site that is meant. @throws DocshelfError `usage` where nothing says. */
export function domainOf({ domain }: { readonly domain?: string }, config: Config): string {
  const meant = domain ?? config.staticExport.renew.domain ?? config.deployment.domain;
  if (meant !== null && meant !== '') return meant;
  throw new DocshelfError('usage', 'Cannot start an export: nothing says of which site', {
    next: 'Name its domain with --domain acme, or set staticExport.renew.domain in the config.',
  });
}
