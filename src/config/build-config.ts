import { ARCHIVE_LIMITS } from '../domain/limits.ts';
import type { Secret } from '../domain/secret.ts';
import type { Config, FeatureConfig } from './config.ts';
import type { Values } from './schema/index.ts';

interface Found {
  /** The link that `bundleUrlFile` holds. */
  readonly bundleUrlFromFile: Secret | null;
  readonly preloadIsDefault: boolean;
}

/** The values of the keys in the shape that docshelf works with, frozen to the bottom. */
export function buildConfig(values: Values, found: Found): Config {
  const { deployment, staticExport, server, admin, api, storage, network, features, search, log } = values;
  const { limits } = staticExport;
  const proxyWord = network.proxy.reveal();
  return deepFreeze({
    deployment: { type: deployment.type, domain: deployment.domain ?? null },
    staticExport: {
      enabled: staticExport.enabled,
      bundleUrl: staticExport.bundleUrl ?? found.bundleUrlFromFile,
      version: staticExport.version ?? null,
      sha256: staticExport.sha256?.toLowerCase() ?? null,
      preload: staticExport.preload,
      preloadIsDefault: found.preloadIsDefault,
      keep: staticExport.keep,
      limits: {
        ...ARCHIVE_LIMITS,
        entriesMax: limits.entries,
        fileBytesMax: limits.fileBytes,
        totalBytesMax: limits.totalBytes,
        ratioMax: limits.ratio,
      },
      bundleBytesMax: limits.bundleBytes,
    },
    server: {
      host: server.host,
      port: server.port,
      trailingSlash: server.trailingSlash,
      cacheBytes: server.cacheBytes,
      trustedProxies: server.trustedProxies,
      shutdownTimeoutMs: server.shutdownTimeout,
    },
    admin: { host: admin.host, port: admin.port, token: admin.token ?? null },
    api: { host: api.host, port: api.port, publicUrl: api.publicUrl ?? null },
    storage: { dir: storage.dir },
    network: {
      allowedHosts: network.allowedHosts,
      proxy: proxyWord === 'env' || proxyWord === 'off' ? proxyWord : network.proxy,
      caFile: network.caFile ?? null,
      connectTimeoutMs: network.connectTimeout,
      idleTimeoutMs: network.idleTimeout,
      totalTimeoutMs: network.totalTimeout,
      retries: network.retries,
      redirectsMax: network.redirects,
    },
    features: {
      search: wishOf(features.search),
      assistant: wishOf(features.assistant),
      analytics: wishOf(features.analytics),
      apiPlayground: wishOf(features.apiPlayground),
    },
    search: { enabled: search.enabled },
    log: { level: log.level, format: log.format, access: log.access },
  });
}

function wishOf(feature: { enabled?: boolean }): FeatureConfig {
  return { enabled: feature.enabled ?? null };
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  }
  return Object.freeze(value);
}
