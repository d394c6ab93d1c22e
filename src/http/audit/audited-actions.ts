import type { AdminActions, SiteActions } from '../admin/actions.ts';
import type { JobActions, OperatedJob } from '../job-desk.ts';
import type { KeyActions } from '../keys/key-desk.ts';
import { isKey } from '../keys/key-store.ts';
import type { Actor, AuditFacts, AuditTrail } from './audit.ts';

interface AuditedSite {
  readonly domain: string;
  readonly active: () => string | null;
}

export function auditedActions(
  actions: AdminActions,
  siteOf: (domain: string | null) => AuditedSite,
  trail: AuditTrail,
  actor: Actor,
): AdminActions {
  return {
    reload: () =>
      trail.record(
        actor,
        'reload',
        {},
        () => actions.reload(),
        ({ ok, error }) => (ok ? {} : { result: 'config_invalid', error }),
      ),
    site: (domain) => auditedSite(actions.site(domain), siteOf(domain), trail, actor),
    keys: auditedKeys(actions.keys, trail, actor),
    jobs: auditedJobs(actions.jobs, trail, actor),
  };
}

function auditedSite(actions: SiteActions, site: AuditedSite, trail: AuditTrail, actor: Actor): SiteActions {
  const swap = <Result>(action: string, target: string | null, act: () => Promise<Result>): Promise<Result> =>
    trail.record(actor, action, { site: site.domain, target, from: site.active() }, act, () => ({ to: site.active() }));
  const on = <Result>(action: string, facts: AuditFacts, act: () => Promise<Result>): Promise<Result> =>
    trail.record(actor, action, { site: site.domain, ...facts }, act);
  return {
    onBundleRefused: (source) => actions.onBundleRefused(source),
    diff: (before, after, signal) => actions.diff(before, after, signal),
    activate: (version) => swap('activate', version, () => actions.activate(version)),
    rollback: () => swap('rollback', null, () => actions.rollback()),
    activateStored: (release, activate) =>
      swap('take-up', release.version, () => actions.activateStored(release, activate)),
    upload: (fileName, body, options) => swap('upload', fileName, () => actions.upload(fileName, body, options)),
    remove: (version) => on('remove', { target: version, from: version }, () => actions.remove(version)),
    preview: (version) => on('preview', { target: version }, () => actions.preview(version)),
  };
}

function auditedKeys(actions: KeyActions, trail: AuditTrail, actor: Actor): KeyActions {
  return {
    list: (organization) => actions.list(organization),
    create: (wanted) =>
      trail.record(
        actor,
        'key-create',
        { organization: wanted.organization, target: wanted.name },
        () => actions.create(wanted),
        ({ id }) => ({ to: id }),
      ),
    revoke: (id) =>
      trail.record(
        actor,
        'key-revoke',
        { from: isKey(id) ? null : id },
        () => actions.revoke(id),
        ({ organization, name }) => ({ organization, target: name }),
      ),
  };
}

function auditedJobs(actions: JobActions, trail: AuditTrail, actor: Actor): JobActions {
  const jobFacts = ({ domain, organization, jobId }: OperatedJob): AuditFacts => ({
    site: domain,
    organization,
    target: jobId,
  });
  const on = (action: string, facts: AuditFacts, act: () => Promise<OperatedJob>): Promise<OperatedJob> =>
    trail.record(actor, action, facts, act, jobFacts);
  return {
    board: (cursor) => actions.board(cursor),
    get: (jobId) => actions.get(jobId),
    report: (jobId) => actions.report(jobId),
    start: (order) => on('export-start', { site: order.domain }, () => actions.start(order)),
    retry: (jobId) => on('export-start', { target: jobId, from: jobId }, () => actions.retry(jobId)),
    cancel: (jobId) => on('export-cancel', { target: jobId }, () => actions.cancel(jobId)),
  };
}
