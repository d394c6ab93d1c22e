import { type LoadedConfig, pendingRestart } from '../../config/index.ts';
import { expiryOfLink } from '../../domain/bundle-link.ts';
import type { DeploymentType } from '../../domain/deployment.ts';
import { type DaemonFeatures, joinFeatures } from '../../domain/feature.ts';
import type { LastReload, SiteStatusReport, StatusReport } from '../../domain/status.ts';
import { printable } from '../../domain/text.ts';
import type { SiteActions } from '../../http/admin/actions.ts';
import type { ObservedSite } from '../../http/admin/observed-site.ts';
import { diffVersions } from '../../site/versions/diff-versions.ts';
import { bundleLink } from '../slices.ts';
import { originOf, previewLink } from './preview.ts';
import type { Site } from './site.ts';
import type { Sites } from './sites.ts';

export function siteActions({ deployment, metrics, config }: Site, port: number): SiteActions {
  return {
    domain: deployment.domain,
    activeVersion: () => deployment.active?.version ?? null,
    onBundleRefused: (source) => metrics.onBundleRefused(source),
    activate: (version) => deployment.activate(version),
    rollback: () => deployment.rollback(),
    preview: async (version) => {
      const release = await deployment.stored(version, 'preview');
      return previewLink(config, { ...release, domain: deployment.domain }, port);
    },
    diff: async (before, after, signal) => {
      const former = await deployment.stored(before, 'compare');
      const next = await deployment.stored(after, 'compare');
      const pages = await diffVersions({ before: former.releaseDir, after: next.releaseDir }, signal);
      return { before, after, ...pages };
    },
    remove: (version) => deployment.remove(version),
    upload: (fileName, body, { version, activate, signature, source, signal }) =>
      deployment.deliverStream(body, { fileName, version, activate, signature, source }, signal),
  };
}

interface DaemonFacts extends Pick<StatusReport, 'jobs' | 'notices' | 'startedAt' | 'programVersion'> {
  readonly opened: LoadedConfig;
  readonly current: LoadedConfig;
  readonly lastReload: LastReload | null;
  readonly apiHasSearch: boolean;
}

export async function daemonStatus(sites: Sites, facts: DaemonFacts): Promise<StatusReport> {
  const { opened, current, lastReload, apiHasSearch, ...rest } = facts;
  const daemon = { ...rest, lastReload, pending: pendingOf(sites, facts) };
  const error = lastReload?.error ?? null;
  const ofReload = error === null ? [] : [`The current config is not valid, and the next start will fail: ${error}`];
  const notices = [...ofReload, ...facts.notices, ...sites.current.notices].map((notice) => printable(notice));
  const statusOf = async (site: Site): Promise<StatusReport> => {
    const report = await site.report();
    return { ...report, ...daemon, notices: [...notices, ...report.notices] };
  };
  const { only } = sites;
  if (only !== null) {
    const status = await statusOf(only);
    return sites.isList ? { ...status, sites: [listed(only, status)] } : status;
  }
  const each = await Promise.all(sites.all.map(async (site) => listed(site, await statusOf(site))));
  return {
    state: sites.state,
    deployment: { type: current.config.deployment.type, domain: null },
    active: null,
    pinned: null,
    versions: [],
    lastError: null,
    search: null,
    activity: null,
    ...daemon,
    notices,
    sites: each,
  };
}

function listed({ config }: Site, status: StatusReport): SiteStatusReport {
  const { title, hosts, basePath } = config;
  return { ...status, title, hosts, basePath };
}

export function daemonFeatures(sites: Sites, deploymentType: DeploymentType): DaemonFeatures {
  const { only } = sites;
  if (!sites.isList && only !== null) return only.features();
  const reports = sites.all.map((site) => site.features());
  return joinFeatures(deploymentType, reports);
}

/** Config keys whose change waits for a restart. Keys of a site in a list contain its domain. */
function pendingOf(sites: Sites, { opened, current, apiHasSearch }: DaemonFacts): string[] {
  if (current.config.sites.length > 0 !== sites.isList) return ['sites'];
  const pending = pendingRestart(opened.config, current.config);
  if (!sites.isList) return pending;
  const ofSites = sites.all.flatMap(({ opened: before, config, domain, search }) => {
    const waiting = pendingRestart(before.config, config.config);
    // If no site had search at the start, the API has no search until the restart.
    if (!apiHasSearch && search !== null) waiting.push('search.enabled');
    return waiting.filter((key) => !pending.includes(key)).map((key) => `sites[${domain}].${key}`);
  });
  return [...pending, ...ofSites];
}

export function siteStates(sites: Sites, labelsMax: number) {
  const each = sites.all.map(({ domain, deployment, config, searchReading }) => {
    const { enabled } = config.config.staticExport;
    const link = enabled ? (bundleLink(config.config)?.reveal() ?? null) : null;
    return {
      site: domain,
      state: deployment.state,
      active: [deployment.active ?? []].flat(),
      search: searchReading,
      linkEndsAtMs: link === null ? null : expiryOfLink(link),
      isFetchFailing: enabled && deployment.journal.isFetchFailing,
    };
  });
  if (sites.isList && each.length <= labelsMax) return each;
  const readings = each.flatMap(({ search }) => search ?? []);
  const search = {
    waiting: readings.reduce((sum, { waiting }) => sum + waiting, 0),
    builtAtMs: leastOf(readings.map(({ builtAtMs }) => builtAtMs)),
  };
  return [
    {
      site: null,
      state: sites.state,
      active: each.flatMap(({ active }) => active),
      search: readings.length === 0 ? undefined : search,
      linkEndsAtMs: leastOf(each.map(({ linkEndsAtMs }) => linkEndsAtMs)),
      isFetchFailing: each.some(({ isFetchFailing }) => isFetchFailing),
    },
  ];
}

function leastOf(times: readonly (number | null)[]): number | null {
  const known = times.filter((time) => time !== null);
  return known.length === 0 ? null : Math.min(...known);
}

export function observedSite(site: Site, port: number): ObservedSite {
  return {
    address: originOf(site.config, port) + site.config.basePath,
    findings: () => site.findings(),
    canRollBack: () =>
      site.deployment.previous().then(
        (previous) => previous !== null,
        () => false,
      ),
    search: (query) => site.explain(query),
  };
}
