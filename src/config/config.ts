import type { BrowserSettings } from '../domain/crawl.ts';
import type { DeploymentType } from '../domain/deployment.ts';
import type { ArchiveLimits } from '../domain/limits.ts';
import type { Organization, OrganizationKey } from '../domain/organization.ts';
import type { Secret } from '../domain/secret.ts';
import type { Values } from './schema/index.ts';
import type { KeyValues } from './values.ts';

/** What is configured of a feature; `enabled` is null where the config says nothing, and the feature table decides. */
export interface FeatureConfig {
  readonly enabled: boolean | null;
}

/** The search that the hosted service runs, asked in place of the local engine. */
export interface HostedSearchConfig {
  /** Base URL; `/v1/search/{domain}` is put behind it. */
  readonly discoveryUrl: string;
  /** The assistant key that `keyFile` holds. */
  readonly key: Secret;
}

/** The service that is asked for fresh links, and for exports. */
export interface RenewConfig {
  /** Base URL; `/v1/static-export` is put behind it. */
  readonly apiUrl: string;
  /** The admin key that `keyFile` holds. */
  readonly key: Secret;
  /** Else `deployment.domain`; null only where a job is named. */
  readonly domain: string | null;
  readonly jobId: string | null;
  /** Null: never by itself. */
  readonly everyMs: number | null;
}

/** What computes meanings. */
export type SearchModelConfig =
  /** The one in `models/`. */
  | { readonly kind: 'builtin' }
  /** Keywords only. */
  | { readonly kind: 'off' }
  | { readonly kind: 'folder'; readonly folder: string }
  /** An embeddings endpoint; the key from `keyFile`, null where there is none. */
  | { readonly kind: 'endpoint'; readonly url: string; readonly model: string; readonly key: Secret | null };

/** Where exported bundles are kept. */
export type BundleStoreConfig = { readonly kind: 'disk' } | ({ readonly kind: 's3' } & S3StoreConfig);

export interface S3StoreConfig {
  readonly bucket: string;
  /** Null: `us-east-1` with an endpoint, which most other services take; else what the SDK finds in the environment. */
  readonly region: string | null;
  /** URL of another S3 service; null: Amazon's. */
  readonly endpoint: string | null;
  /** The bucket in the path and not in the host name. */
  readonly pathStyle: boolean;
  /** Folder of the objects in the bucket; empty: none. */
  readonly prefix: string;
  /** Null: they are found in the environment. */
  readonly credentials: { readonly accessKeyId: Secret; readonly secretAccessKey: Secret } | null;
  /** PEM file of certificates that are trusted besides Node's own roots. */
  readonly caFile: string | null;
}

/**
 * The config as docshelf works with it: checked, whole and deeply frozen. Sizes are bytes, durations milliseconds,
 * paths absolute, credentials `Secret`. A key that this version cannot honour is not in it: see `not-built.ts`.
 */
export interface Config {
  readonly deployment: {
    readonly type: DeploymentType;
    /** Null: that of the first bundle's manifest, else `DEFAULT_DOMAIN`. */
    readonly domain: string | null;
  };
  readonly staticExport: {
    readonly enabled: boolean;
    /** From `bundleUrl` or from `bundleUrlFile`. */
    readonly bundleUrl: Secret | null;
    readonly version: string | null;
    /** 64 lower-case hex digits. */
    readonly sha256: string | null;
    readonly signature: {
      /** A bundle without a signature is refused. */
      readonly required: boolean;
      /** Texts of minisign public keys; empty: no signature is looked at. */
      readonly publicKeys: readonly string[];
      /** What `signature.file` holds. */
      readonly text: string | null;
      readonly url: Secret | null;
    };
    readonly preload: string;
    /** Nobody named the folder: it may be missing. */
    readonly preloadIsDefault: boolean;
    readonly keep: number;
    readonly limits: ArchiveLimits;
    /** Bytes of an archive as it is fetched or taken in. */
    readonly bundleBytesMax: number;
    readonly renew: RenewConfig | null;
  };
  readonly server: {
    readonly host: string;
    /** 0: a free one. */
    readonly port: number;
    readonly trailingSlash: Values['server']['trailingSlash'];
    readonly cacheBytes: number;
    /** Addresses and networks in CIDR notation. */
    readonly trustedProxies: readonly string[];
    readonly shutdownTimeoutMs: number;
  };
  readonly admin: { readonly host: string; readonly port: number; readonly token: Secret | null };
  readonly api: { readonly host: string; readonly port: number; readonly publicUrl: string | null };
  readonly storage: { readonly dir: string };
  readonly network: {
    /** `host`, `host:port` or `*.domain`; empty: any, or none in an air-gapped deployment. */
    readonly allowedHosts: readonly string[];
    readonly allowPrivate: boolean;
    /** `env`, `off`, or the proxy's URL, which may hold a password. */
    readonly proxy: 'env' | 'off' | Secret;
    readonly caFile: string | null;
    /** A docker config.json with the credentials of registries. */
    readonly registryAuthFile: string | null;
    readonly connectTimeoutMs: number;
    readonly idleTimeoutMs: number;
    readonly totalTimeoutMs: number;
    /** Further attempts after the first. */
    readonly retries: number;
    readonly redirectsMax: number;
  };
  readonly features: {
    /** `hosted` is null where nothing names it; whether it is asked is for the feature report to say. */
    readonly search: FeatureConfig & { readonly hosted: HostedSearchConfig | null };
    readonly assistant: FeatureConfig;
    readonly analytics: FeatureConfig;
    readonly apiPlayground: FeatureConfig;
  };
  /** The engine inside the daemon (`localSearch` in the feature table). */
  readonly search: {
    readonly enabled: boolean;
    readonly model: SearchModelConfig;
    /** Assistant keys of docshelf's own organization; empty where `organizations` is not. */
    readonly keys: readonly Omit<OrganizationKey, 'type'>[];
  };
  readonly exportApi: {
    readonly enabled: boolean;
    readonly role: Values['exportApi']['role'];
    readonly concurrency: number;
    /** Jobs of one organization that may wait. */
    readonly queuedMax: number;
    readonly deadlineMs: number;
    readonly leaseMs: number;
    readonly linkTtlMs: number;
    /** Null: ended jobs are kept for good. */
    readonly retentionMs: number | null;
    readonly browser: BrowserSettings;
    /** The minisign secret key that `signingKeyFile` holds. */
    readonly signingKey: Secret | null;
    readonly store: BundleStoreConfig;
  };
  /** From `organizations` or from `organizationsFile`. Empty: docshelf's own organization owns the deployment's domain, see `organizationsOf`. */
  readonly organizations: readonly Organization[];
  readonly log: {
    readonly level: Values['log']['level'];
    readonly format: Values['log']['format'];
    readonly access: boolean;
  };
}

export interface LoadedConfig {
  readonly config: Config;
  /** Absolute path of the config file, or null where there is none. */
  readonly file: string | null;
  /** Dotted key to `default`, `config.yaml:3:5`, `environment NAME`, `file PATH (NAME)` or `flag`. */
  readonly origins: ReadonlyMap<string, string>;
  /** Dotted key to effective value, of all keys of the contract; for `printConfig`. */
  readonly values: KeyValues;
  /** Absolute paths: the config file and every file that it names. */
  readonly watchedFiles: readonly string[];
}
