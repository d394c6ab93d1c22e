import type { CrawlSettings } from '../domain/crawl.ts';
import { ARCHIVE_LIMITS } from '../domain/limits.ts';
import type { Organization, SourceSettings } from '../domain/organization.ts';
import type { Secret } from '../domain/secret.ts';
import type { BundleStoreConfig, Config, FeatureConfig, RenewConfig, SearchModelConfig } from './config.ts';
import type { Values } from './schema/index.ts';

type SourceValues = NonNullable<Values['organizations'][number]['domains'][string]['source']>;

interface Found {
  /** The link that `bundleUrlFile` holds. */
  readonly bundleUrl: Secret | null;
  /** The texts of the keys that `staticExport.signature.publicKeys` names. */
  readonly publicKeys: readonly string[];
  /** The signature that `staticExport.signature.file` holds. */
  readonly signature: string | null;
  readonly preloadIsDefault: boolean;
  /** The key that `features.search.keyFile` holds. */
  readonly hostedSearchKey: Secret | null;
  /** The key that the `keyFile` of `search.model` holds. */
  readonly searchModelKey: Secret | null;
  /** The key that `exportApi.signingKeyFile` holds. */
  readonly signingKey: Secret | null;
  /** The key that `staticExport.renew.keyFile` holds. */
  readonly renewKey: Secret | null;
}

/** The values of the keys in the shape that docshelf works with, frozen to the bottom. */
export function buildConfig(values: Values, found: Found): Config {
  const { deployment, staticExport, server, admin, api, storage, network, features, search, exportApi, log } = values;
  const { limits } = staticExport;
  const { discoveryUrl } = features.search;
  const { hostedSearchKey } = found;
  const proxyWord = network.proxy.reveal();
  return deepFreeze({
    deployment: { type: deployment.type, domain: deployment.domain ?? null },
    staticExport: {
      enabled: staticExport.enabled,
      bundleUrl: staticExport.bundleUrl ?? found.bundleUrl,
      version: staticExport.version ?? null,
      sha256: staticExport.sha256?.toLowerCase() ?? null,
      signature: {
        required: staticExport.signature.required,
        publicKeys: found.publicKeys,
        text: found.signature,
        url: staticExport.signature.url ?? null,
      },
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
      renew: renewOf(staticExport.renew, deployment.domain ?? null, found.renewKey),
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
      allowPrivate: network.allowPrivate,
      proxy: proxyWord === 'env' || proxyWord === 'off' ? proxyWord : network.proxy,
      caFile: network.caFile ?? null,
      registryAuthFile: network.registryAuthFile ?? null,
      connectTimeoutMs: network.connectTimeout,
      idleTimeoutMs: network.idleTimeout,
      totalTimeoutMs: network.totalTimeout,
      retries: network.retries,
      redirectsMax: network.redirects,
    },
    features: {
      search: {
        ...wishOf(features.search),
        hosted: discoveryUrl === undefined || hostedSearchKey === null ? null : { discoveryUrl, key: hostedSearchKey },
      },
      assistant: wishOf(features.assistant),
      analytics: wishOf(features.analytics),
      apiPlayground: wishOf(features.apiPlayground),
    },
    search: {
      enabled: search.enabled,
      model: modelOf(search.model, found.searchModelKey),
      keys: search.keys.map(({ id, sha256 }) => ({ id, sha256: sha256.toLowerCase() })),
    },
    exportApi: {
      enabled: exportApi.enabled,
      role: exportApi.role,
      concurrency: exportApi.concurrency,
      queuedMax: exportApi.queuedMax,
      deadlineMs: exportApi.deadline,
      leaseMs: exportApi.queue.lease,
      linkTtlMs: exportApi.linkTtl,
      retentionMs: exportApi.retention === 'none' ? null : exportApi.retention,
      browser: {
        sandbox: exportApi.browser.sandbox,
        tabs: exportApi.browser.tabs,
        pageMsMax: exportApi.browser.pageTimeout,
        verify: exportApi.browser.verify,
      },
      signingKey: found.signingKey,
      store: storeOf(exportApi.store),
    },
    organizations: values.organizations.map(organizationOf),
    log: { level: log.level, format: log.format, access: log.access },
  });
}

/** That an address has its key is demanded by a rule. */
function renewOf(
  { apiUrl, domain, jobId, every }: Values['staticExport']['renew'],
  ownDomain: string | null,
  key: Secret | null,
): RenewConfig | null {
  if (apiUrl === undefined || key === null) return null;
  return { apiUrl, key, domain: domain ?? ownDomain, jobId: jobId ?? null, everyMs: every ?? null };
}

function wishOf(feature: { enabled?: boolean }): FeatureConfig {
  return { enabled: feature.enabled ?? null };
}

function modelOf(model: Values['search']['model'], key: Secret | null): SearchModelConfig {
  if (typeof model !== 'string') return { kind: 'endpoint', url: model.url, model: model.model, key };
  return model === 'builtin' || model === 'off' ? { kind: model } : { kind: 'folder', folder: model };
}

function storeOf(store: Values['exportApi']['store']): BundleStoreConfig {
  const { bucket, accessKeyId, secretAccessKey } = store;
  // A bucket is demanded by a rule.
  if (store.kind === 'disk' || bucket === undefined) return { kind: 'disk' };
  return {
    kind: 's3',
    bucket,
    region: store.region ?? null,
    endpoint: store.endpoint ?? null,
    pathStyle: store.pathStyle,
    prefix: store.prefix ?? '',
    credentials: accessKeyId === undefined || secretAccessKey === undefined ? null : { accessKeyId, secretAccessKey },
    caFile: store.caFile ?? null,
  };
}

/** What a source needs is demanded by a rule; where there is none, the site is only searched. */
function sourceOf(source: SourceValues | undefined): SourceSettings | null {
  if (source === undefined) return null;
  const { kind, path, url } = source;
  if (kind !== 'crawl') return path === undefined ? null : { kind, path };
  return url === undefined ? null : crawlOf(source, url);
}

function crawlOf(source: SourceValues, url: string): CrawlSettings {
  const { limits } = source;
  return {
    kind: 'crawl',
    url,
    allowAddresses: source.allowAddresses,
    robots: source.robots,
    cookieFile: source.cookieFile ?? null,
    bearerFile: source.bearerFile ?? null,
    concurrency: source.concurrency,
    rateMax: source.rate,
    limits: {
      pagesMax: limits.pages,
      depthMax: limits.depth,
      queryVariantsMax: limits.queryVariants,
      pageBytesMax: limits.pageBytes,
      requestTimeoutMs: limits.requestTimeout,
    },
    render: source.render === 'none' ? null : { scripts: source.scripts },
  };
}

/** Names are compared without case: hosts and digests in lower case from here on; domains are by their rule. */
function organizationOf({ id, plan, domains, keys }: Values['organizations'][number]): Organization {
  return {
    id,
    plan,
    sites: Object.entries(domains).map(([domain, { hosts, source }]) => ({
      domain,
      hosts: hosts.map((host) => host.toLowerCase()),
      source: sourceOf(source),
    })),
    keys: keys.map((key) => ({ ...key, sha256: key.sha256.toLowerCase() })),
  };
}

function deepFreeze<T extends object>(value: T): T {
  for (const child of Object.values(value)) {
    if (typeof child === 'object' && child !== null) deepFreeze(child);
  }
  return Object.freeze(value);
}
