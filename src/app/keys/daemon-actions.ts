import type { Config } from '../../config/index.ts';
import type { LastReload } from '../../domain/status.ts';
import type { AdminActions, AdminOptions } from '../../http/admin/actions.ts';
import type { AuditTrail } from '../../http/audit/audit.ts';
import { auditedActions } from '../../http/audit/audited-actions.ts';
import { JobDesk } from '../../http/job-desk.ts';
import type { Exports } from '../open-exports.ts';
import type { Sites } from '../sites/sites.ts';
import { siteActions } from '../sites/status.ts';
import { organizationsSlice } from '../slices.ts';
import type { ServiceKeys } from './service-keys.ts';

interface DaemonActionsParts {
  readonly reload: () => Promise<LastReload>;
  readonly sites: Sites;
  readonly sitePort: () => number;
  readonly keys: ServiceKeys;
  readonly audit: AuditTrail;
  readonly exports: Promise<Exports> | null;
  readonly config: () => Config;
}

export function daemonRevisions({
  keys,
  audit,
  exports,
}: Pick<DaemonActionsParts, 'keys' | 'audit' | 'exports'>): AdminOptions['revisions'] {
  return {
    changes: () => `${keys.revision()} ${audit.count}`,
    jobs: async () => (await (await exports)?.service?.revision()) ?? '',
  };
}

export function daemonActions(parts: DaemonActionsParts): AdminOptions['actions'] {
  const { reload, sites, sitePort, keys, audit, exports, config } = parts;
  const actions: AdminActions = {
    reload,
    site: (domain) => siteActions(sites.chosen(domain), sitePort()),
    keys: keys.actions,
    jobs: new JobDesk({
      service: async () => (await exports)?.service ?? null,
      organizations: () => organizationsSlice(config()),
    }),
  };
  const siteOf = (chosen: string | null) => {
    const { deployment, domain } = sites.chosen(chosen);
    return { domain, active: () => deployment.active?.version ?? null };
  };
  return (actor) => auditedActions(actions, siteOf, audit, actor);
}
