import type { DaemonFeatures } from '../../domain/feature.ts';
import type { Organization } from '../../domain/organization.ts';
import { openApiDocument, withOwnNames } from '../openapi.ts';
import { ADMIN_INFO, operations } from './operations.ts';
import { ofSite } from './site-operations.ts';

interface DocumentOptions {
  readonly features: () => Pick<DaemonFeatures, 'domain' | 'sites'>;
  readonly service: () => { readonly organizations: readonly Organization[] };
  readonly programVersion: string;
}

/** Its examples name the first site and the first organization of the daemon. */
export function adminDocument({ features, service, programVersion }: DocumentOptions): object {
  const all = Object.values(operations).flatMap((each) => [each, ...ofSite(each)]);
  const document = openApiDocument(all, { ...ADMIN_INFO, programVersion, publicUrl: null });
  const { domain, sites } = features();
  const own = domain ?? sites?.[0]?.domain;
  const organization = service().organizations[0]?.id;
  return own === undefined ? document : withOwnNames(document, { domain: own, host: null, organization });
}
