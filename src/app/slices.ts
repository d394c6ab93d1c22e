import { type Config, type SiteConfig, valueAt } from '../config/index.ts';
import { SiteStore } from '../deploy/releases/site-store.ts';
import type { DeploySettings } from '../deploy/settings.ts';
import { type EgressRules, hostRulesOf } from '../domain/egress.ts';
import { FEATURES, type FeatureId, type FeatureReport, type FeatureWishes, reportFeatures } from '../domain/feature.ts';
import { ARCHIVE_LIMITS, type ArchiveLimits } from '../domain/limits.ts';
import type { Organization, SourceSettings } from '../domain/organization.ts';
import type { Secret } from '../domain/secret.ts';
import type { ExportSettings, JobRunnerSettings } from '../export/index.ts';
import type { ReportedSite } from '../http/site/page-reports.ts';

/** Each function of this file selects the settings that one folder of `src` needs, because only `src/app` may import the config. */

export function deploySlice(config: Config): DeploySettings {
  const { deployment, staticExport, network } = config;
  const { enabled, version, sha256, minVersion, preload, keep, limits } = staticExport;
  return {
    enabled,
    version,
    sha256,
    minVersion,
    preload,
    keep,
    link: bundleLink(config),
    fromExports: staticExport.from === 'exports',
    signature: signatureSlice(config),
    domain: deployment.domain,
    limits: archiveLimits(config),
    bundleBytesMax: limits.bundleBytesMax,
    fetchRetriesMax: network.retries,
    renew: renewSlice(config),
  };
}

export const listedDomain = ({ sites, deployment }: Config): string | null =>
  sites.length > 0 ? deployment.domain : null;

/** Returns the config with the `search.enabled` from the start of the daemon, because a change of this key needs a restart. */
export function configUntilRestart(site: SiteConfig, hasSearch: boolean): SiteConfig {
  const { config } = site;
  if (config.search.enabled === hasSearch) return site;
  return { ...site, config: { ...config, search: { ...config.search, enabled: hasSearch } } };
}

export const readStore = (config: Config): Promise<SiteStore> =>
  SiteStore.read(config.storage.dir, config.deployment.domain, listedDomain(config));

export const bundleLink = ({ staticExport }: Config): Secret | null =>
  staticExport.bundleUrl ?? staticExport.bundleUrlFile?.text ?? null;

export function archiveLimits({ staticExport }: Config): ArchiveLimits {
  const { bundleBytesMax: _, ...limits } = staticExport.limits;
  return { ...ARCHIVE_LIMITS, ...limits };
}

export function signatureSlice({ staticExport }: Config): DeploySettings['signature'] {
  const { required, publicKeys, file, url } = staticExport.signature;
  return {
    required: required ?? publicKeys.length > 0,
    publicKeys: publicKeys.map((key) => (typeof key === 'string' ? key : key.text.reveal())),
    text: file?.text.reveal() ?? null,
    link: url,
  };
}

/** Settings of the export service, or null without one. The config check ensures that its address and API key are set together. */
export function renewSlice({ staticExport, deployment }: Config): DeploySettings['renew'] {
  const { apiUrl, keyFile, domain, ...renew } = staticExport.renew;
  if (apiUrl === null || keyFile === null) return null;
  return { apiUrl, key: keyFile.text, domain: domain ?? deployment.domain, ...renew };
}

export function egressSlice({ deployment, network }: Config, ownPorts: readonly number[]): EgressRules {
  const { connectTimeoutMs, idleTimeoutMs, caFile, allowPrivate, proxy } = network;
  return {
    ...hostRulesOf(deployment.type === 'air-gapped', network.allowedHosts),
    allowPrivate,
    ownPorts,
    connectTimeoutMs,
    idleTimeoutMs,
    caFile,
    proxy: typeof proxy === 'string' ? proxy : proxy.reveal(),
  };
}

export function exportSlice({ exportApi }: Config): JobRunnerSettings & ExportSettings {
  const { concurrency, deadlineMs, queue, linkTtlMs, queuedMax } = exportApi;
  return { concurrency, deadlineMs, leaseMs: queue.leaseMs, linkTtlMs, queuedMax };
}

/** Kind of the export job queue. The config check ensures that a `postgres` queue has a database. */
export const queueKind = ({ exportApi, database }: Config): 'sqlite' | 'postgres' =>
  exportApi.queue.kind ?? (database.urlFile === null ? 'sqlite' : 'postgres');

/**
 * Settings of the S3 bucket for exports, or null if exports are stored on disk. If not on disk, the config check ensures that
 * a bucket is set.
 */
export function s3Slice({ exportApi: { store } }: Config) {
  const { kind, bucket, prefix, encryption, kmsKeyId, accessKeyId, secretAccessKey, ...place } = store;
  if (kind === 'disk' || bucket === null) return null;
  const algorithm = ({ bucket: null, s3: 'AES256', kms: 'aws:kms' } as const)[encryption];
  return {
    ...place,
    bucket,
    prefix: prefix ?? '',
    encryption: algorithm && { algorithm, kmsKeyId },
    credentials: accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey },
  };
}

export function organizationsSlice({ organizations }: Config): readonly Organization[] {
  return organizations.map(({ id, plan, domains, keys }) => ({
    id,
    plan,
    keys,
    sites: Object.entries(domains).map(([domain, { hosts, source }]) => ({ domain, hosts, source: sourceOf(source) })),
  }));
}

/**
 * Source of the files to export for a domain, or null if none is configured. The config check ensures that each kind of source
 * has its `path`, `url` or `workDir`.
 */
function sourceOf(source: Config['organizations'][number]['domains'][string]['source']): SourceSettings | null {
  if (source === null) return null;
  const { kind, path, url, allowAddresses, robots, cookieFile, bearerFile, headersFile } = source;
  const { concurrency, rateMax, limits } = source;
  if (kind === 'command') {
    const { workDir, command, output, environment, timeoutMs } = source;
    return workDir === null || output === null ? null : { kind, workDir, command, output, environment, timeoutMs };
  }
  if (kind !== 'crawl') return path === null ? null : { kind, path };
  if (url === null) return null;
  const render = source.render === 'none' ? null : { scripts: source.scripts };
  const secrets = { cookieFile, bearerFile, headersFile };
  return { kind, url, allowAddresses, robots, ...secrets, concurrency, rateMax, limits, render };
}

export const enforcementOf = ({ deployment, features }: Config): 'off' | 'report' | 'on' =>
  features.enforce ?? (deployment.type === 'air-gapped' ? 'on' : 'off');

export function reportedSite({ config, hosts, basePath }: SiteConfig): ReportedSite {
  const { publicUrl } = config.server;
  const named = publicUrl === null ? hosts : [...hosts, new URL(publicUrl).host];
  return { policy: enforcementOf(config), basePath, hosts: named };
}

/**
 * Content Security Policy of a site's pages. Allows inline scripts and `eval`, which some sites need. Browsers that do not
 * support `webrtc` ignore that directive.
 */
export function policyHeaders(config: Config, domain: string, basePath: string): Readonly<Record<string, string>> {
  const { features } = config;
  const enforce = enforcementOf(config);
  if (enforce === 'off') return {};
  const switched: Partial<Record<FeatureId, { readonly origins: readonly string[] }>> = features;
  const origins = featureReport(config, domain)
    .features.filter(({ enabled }) => enabled)
    .flatMap(({ id }) => switched[id]?.origins ?? [])
    .map((origin) => new URL(origin).origin);
  const self = ["'self'", ...new Set(origins)].join(' ');
  const reports = `${basePath}_docshelf/csp-report`;
  const policy = [
    `default-src ${self} data: blob: 'unsafe-inline' 'unsafe-eval'`,
    "object-src 'none'",
    "base-uri 'self'",
    `form-action ${self}`,
    "frame-ancestors 'self'",
    "webrtc 'block'",
    // Do not send `report-to`: with it, Chromium 156 ignores `report-uri` and sends reports only over HTTPS (measured).
    `report-uri ${reports}`,
  ].join('; ');
  if (enforce === 'report') return { 'Content-Security-Policy-Report-Only': policy };
  return { 'Content-Security-Policy': policy, 'X-DNS-Prefetch-Control': 'off' };
}

export function featureReport(config: Config, domain: string): FeatureReport {
  const wishes = FEATURES.map(({ id, key }) => {
    const path = key.endsWith('.enabled') ? key : `${key}.enabled`;
    return [id, valueAt(config, path.split('.'))];
  });
  return reportFeatures(config.deployment.type, domain, Object.fromEntries(wishes) as FeatureWishes);
}
