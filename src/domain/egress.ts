/** What may be asked, and how: plain data that crosses a thread. `net/egress.ts` makes the policy of it. */
export interface EgressRules {
  /** `host`, `host:port` or `*.domain` (every name below it, not itself), in lower case. */
  readonly allowedHosts: readonly string[];
  /** Hosts that `allowedHosts` does not name may be asked: it is empty, and there is no air gap. */
  readonly allowsUnnamed: boolean;
  readonly allowPrivate: boolean;
  /** Of our own listeners: on an address of this machine they are never asked. */
  readonly ownPorts: readonly number[];
  readonly connectTimeoutMs: number;
  /** Bound on silence, before the answer and within it. */
  readonly idleTimeoutMs: number;
  /** `env`: what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say; `off`: none; else the proxy's URL. */
  readonly proxy: 'env' | 'off' | string;
  /** A PEM file of certificates that are trusted besides Node's own roots. */
  readonly caFile: string | null;
}

export type HostRules = Pick<EgressRules, 'allowedHosts' | 'allowsUnnamed'>;

/** @param allowedHosts as the config has them; empty: any host, behind an air gap none */
export function hostRulesOf(isAirGapped: boolean, allowedHosts: readonly string[]): HostRules {
  const named = allowedHosts.map((entry) => entry.toLowerCase());
  return { allowedHosts: named, allowsUnnamed: named.length === 0 && !isAirGapped };
}

/** The parts of a URL that a socket is opened by. */
export type Endpoint = Pick<URL, 'hostname' | 'port' | 'protocol'>;

export function namesHost({ allowedHosts, allowsUnnamed }: HostRules, url: Endpoint): boolean {
  if (allowsUnnamed) return true;
  return allowedHosts.some((entry) => {
    if (entry.startsWith('*.')) return url.hostname.endsWith(entry.slice(1));
    return entry === url.hostname || entry === hostAndPort(url);
  });
}

/** DNS suffixes of AWS's partitions other than `amazonaws.com`, by the regions that they have. */
const AMAZON_SUFFIXES: readonly (readonly [region: string, suffix: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
];

const BUCKET_LABEL = /^[a-z0-9][a-z0-9-]{2,62}$/;

/** Where buckets are. */
export interface S3Place {
  /** Null: `us-east-1` with an endpoint, else the environment's. */
  readonly region: string | null;
  /** URL of another S3 service; null: Amazon's. */
  readonly endpoint: string | null;
  readonly pathStyle: boolean;
}

/** As the SDK asks it: the bucket in the host, where it can stand there and no certificate of `*.host` forbids its dots. */
export function s3UrlOf(store: S3Place & { readonly bucket: string }): string {
  const { bucket, endpoint, pathStyle } = store;
  const region = store.region ?? 'us-east-1';
  const suffix = AMAZON_SUFFIXES.find(([prefix]) => region.startsWith(prefix))?.[1] ?? 'amazonaws.com';
  const url = new URL(endpoint ?? `https://s3.${region}.${suffix}`);
  const isAddress = /^[\d.]+$|^\[/.test(url.hostname);
  const labels = url.protocol === 'http:' ? bucket.split('.') : [bucket];
  if (!pathStyle && !isAddress && labels.every((label) => BUCKET_LABEL.test(label))) {
    url.hostname = `${bucket}.${url.hostname}`;
  } else url.pathname = `${url.pathname.replace(/\/$/, '')}/${bucket}`;
  return url.href;
}

/** `host:port`, the port written out. */
export function hostAndPort(endpoint: Endpoint): string {
  return `${endpoint.hostname.toLowerCase()}:${portOf(endpoint)}`;
}

export function portOf({ port, protocol }: Endpoint): number {
  return Number(port || (protocol === 'https:' ? 443 : 80));
}

/** A host as sockets and name services take it: an IPv6 address without the brackets that a URL has. */
export function bareHost(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, '');
}

/** The other way round. */
export function urlHost(bare: string): string {
  return bare.includes(':') ? `[${bare}]` : bare;
}
