import type { Config } from '../config/index.ts';
import type { DeploySettings } from '../deploy/index.ts';
import type { CrawlNetwork } from '../domain/crawl.ts';
import { type FeatureReport, reportFeatures } from '../domain/feature.ts';
import type { ExportSettings, JobRunnerSettings } from '../export/index.ts';
import type { HttpClientSettings } from '../net/http-client.ts';

/** The config, cut into the slice that each room takes. */

export function deploySlice({ deployment, staticExport, network }: Config): DeploySettings {
  return {
    enabled: staticExport.enabled,
    link: staticExport.bundleUrl,
    version: staticExport.version,
    sha256: staticExport.sha256,
    signature: signatureSlice(staticExport.signature),
    preload: { dir: staticExport.preload, mayBeMissing: staticExport.preloadIsDefault },
    keep: staticExport.keep,
    domain: deployment.domain,
    limits: staticExport.limits,
    bundleBytesMax: staticExport.bundleBytesMax,
    fetchRetriesMax: network.retries,
    renew: staticExport.renew,
  };
}

function signatureSlice({ url, ...others }: Config['staticExport']['signature']): DeploySettings['signature'] {
  return { ...others, link: url };
}

export function httpClientSlice({ deployment, network }: Config): HttpClientSettings {
  return {
    connectTimeoutMs: network.connectTimeoutMs,
    idleTimeoutMs: network.idleTimeoutMs,
    totalTimeoutMs: network.totalTimeoutMs,
    redirectsMax: network.redirectsMax,
    proxy: typeof network.proxy === 'string' ? network.proxy : network.proxy.reveal(),
    caFile: network.caFile,
    allowedHosts: network.allowedHosts,
    // Behind an air gap only what is named may be asked; elsewhere naming nothing means any host.
    allowNone: deployment.type === 'air-gapped' && network.allowedHosts.length === 0,
    allowPrivate: network.allowPrivate,
  };
}

export function crawlNetworkSlice({ network }: Config): CrawlNetwork {
  return {
    connectTimeoutMs: network.connectTimeoutMs,
    idleTimeoutMs: network.idleTimeoutMs,
    proxy: typeof network.proxy === 'string' ? network.proxy : network.proxy.reveal(),
    caFile: network.caFile,
  };
}

export function exportSlice({ exportApi }: Config): JobRunnerSettings & ExportSettings {
  const { concurrency, deadlineMs, leaseMs, linkTtlMs, queuedMax } = exportApi;
  return { concurrency, deadlineMs, leaseMs, linkTtlMs, queuedMax };
}

export function featureReport(config: Config, domain: string): FeatureReport {
  const { features, staticExport, search, deployment } = config;
  return reportFeatures(deployment.type, domain, {
    search: features.search.enabled,
    assistant: features.assistant.enabled,
    analytics: features.analytics.enabled,
    apiPlayground: features.apiPlayground.enabled,
    staticExport: staticExport.enabled,
    localSearch: search.enabled,
  });
}

/** Settings that a running daemon cannot change: asked for by a reload, they wait for a restart. */
const NEEDS_RESTART: readonly [key: string, read: (config: Config) => unknown][] = [
  ['server.host', (config) => config.server.host],
  ['server.port', (config) => config.server.port],
  ['server.cacheBytes', (config) => config.server.cacheBytes],
  ['server.trustedProxies', (config) => config.server.trustedProxies.join()],
  ['admin.host', (config) => config.admin.host],
  ['admin.port', (config) => config.admin.port],
  ['api.host', (config) => config.api.host],
  ['api.port', (config) => config.api.port],
  ['storage.dir', (config) => config.storage.dir],
  ['search.enabled', (config) => config.search.enabled],
  ['search.model', (config) => JSON.stringify(config.search.model)],
  ['exportApi.enabled', (config) => config.exportApi.enabled],
  ['exportApi.role', (config) => config.exportApi.role],
  ['exportApi.store', (config) => JSON.stringify(config.exportApi.store)],
  ['log.format', (config) => config.log.format],
];

/** The keys in which two configs differ and that a restart has to bring about. */
export function pendingRestart(running: Config, wanted: Config): string[] {
  return NEEDS_RESTART.filter(([, read]) => read(running) !== read(wanted)).map(([key]) => key);
}
