import type { LastReload } from '../../domain/status.ts';
import type { AdminActions, AdminOptions } from '../../http/admin/actions.ts';
import type { AuditTrail } from '../../http/audit/audit-trail.ts';
import { auditedActions } from '../../http/audit/audited-actions.ts';
import { siteActions } from '../sites/site-actions.ts';
import type { Sites } from '../sites/sites.ts';
import type { ServiceKeys } from './service-keys.ts';

interface DaemonActionsParts {
  readonly reload: () => Promise<LastReload>;
  readonly sites: Sites;
  /** Of the site listener. */
  readonly sitePort: () => number;
  readonly keys: ServiceKeys;
  readonly audit: AuditTrail;
}

/** What can be done to a daemon, each by somebody, with its audit line. */
export function daemonActions({ reload, sites, sitePort, keys, audit }: DaemonActionsParts): AdminOptions['actions'] {
  const actions: AdminActions = {
    reload,
    site: (domain) => siteActions(sites.chosen(domain), sitePort()),
    keys: keys.actions,
  };
  const siteOf = (chosen: string | null) => {
    const { deployment, domain } = sites.chosen(chosen);
    return { domain, active: () => deployment.active?.version ?? null };
  };
  return (actor) => auditedActions(actions, siteOf, audit, actor);
}
