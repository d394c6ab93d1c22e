/**
 * Rules for outgoing requests as plain data, so that docshelf can send them to threads. `net/egress.ts` builds the policy from
 * these rules.
 */
export interface EgressRules {
  /** Hosts in lower case: `host`, `host:port`, or `*.domain` for subdomains only. */
  readonly allowedHosts: readonly string[];
  /** True if all hosts are allowed, because `allowedHosts` is empty and the deployment is not air-gapped. */
  readonly allowsUnnamed: boolean;
  readonly allowPrivate: boolean;
  /** Ports of docshelf's own listeners. Requests to these ports on this machine are rejected. */
  readonly ownPorts: readonly number[];
  readonly connectTimeoutMs: number;
  /** Maximum time without data, before and within a response. */
  readonly idleTimeoutMs: number;
  /** `env` uses HTTP_PROXY, HTTPS_PROXY and NO_PROXY, and `off` uses no proxy. Other values are the proxy's URL. */
  readonly proxy: 'env' | 'off' | string;
  /** PEM file of certificates that are trusted in addition to Node's own roots. */
  readonly caFile: string | null;
}

type HostRules = Pick<EgressRules, 'allowedHosts' | 'allowsUnnamed'>;

export function hostRulesOf(isAirGapped: boolean, allowedHosts: readonly string[]): HostRules {
  const named = allowedHosts.map((entry) => entry.toLowerCase());
  return { allowedHosts: named, allowsUnnamed: named.length === 0 && !isAirGapped };
}

export type Endpoint = Pick<URL, 'hostname' | 'port' | 'protocol'>;

export function namesHost({ allowedHosts, allowsUnnamed }: HostRules, url: Endpoint): boolean {
  if (allowsUnnamed) return true;
  return allowedHosts.some((entry) => {
    if (entry.startsWith('*.')) return url.hostname.endsWith(entry.slice(1));
    return entry === url.hostname || entry === hostAndPort(url);
  });
}

const AMAZON_SUFFIXES: readonly (readonly [region: string, suffix: string])[] = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['us-isof-', 'csp.hci.ic.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
];

const BUCKET_LABEL = /^[a-z0-9][a-z0-9-]{2,62}$/;

export interface S3Place {
  /** S3 region. Null uses `us-east-1` if `endpoint` is set, else the region of the environment. */
  readonly region: string | null;
  /** URL of an S3 service. Null uses Amazon. */
  readonly endpoint: string | null;
  readonly pathStyle: boolean;
}

/**
 * Puts the bucket into the host name, as the AWS SDK does, if the bucket name is valid there. Over HTTPS, the bucket name must
 * have no dot.
 */
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

export const hostAndPort = (endpoint: Endpoint): string => `${endpoint.hostname.toLowerCase()}:${portOf(endpoint)}`;

export const portOf = ({ port, protocol }: Endpoint): number => Number(port || (protocol === 'https:' ? 443 : 80));

/** Removes the brackets of an IPv6 address, because sockets and name services do not accept them. */
export const bareHost = (hostname: string): string => hostname.replace(/^\[|\]$/g, '');

export const urlHost = (bare: string): string => (bare.includes(':') ? `[${bare}]` : bare);
