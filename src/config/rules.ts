import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askedUrl } from '../domain/bundle-link.ts';
import { parseDatabaseUrl } from '../domain/database-address.ts';
import { type HostRules, hostRulesOf, namesHost, s3UrlOf, urlHost } from '../domain/egress.ts';
import { Secret } from '../domain/secret.ts';
import { valueAt } from './decode.ts';
import type { Config } from './schema/index.ts';
import { fits } from './schema-node.ts';
import { type ConfigFault, faultOf, pointerOf, type Settings } from './setting.ts';

export function findBrokenRules(
  settings: Settings,
  config: Config,
  faulty: ReadonlySet<string>,
  daemon: Config = config,
): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const { keys, broken } of RULES) {
    const message = broken(config, daemon);
    // Skip the rule: an invalid key has its default here.
    if (message === null || keys.some((key) => faulty.has(pointerOf(key.split('.'))))) continue;
    const key = keys.find((candidate) => settings.get(candidate) !== undefined) ?? keys[0] ?? null;
    const where = key === null ? null : (settings.get(key)?.where ?? null);
    faults.push(faultOf(message, key, where));
  }
  return faults;
}

type Rule = { readonly keys: readonly string[]; readonly broken: (config: Config, daemon: Config) => string | null };

const rule = (
  keys: readonly string[],
  isBroken: (config: Config, daemon: Config) => boolean,
  sentence: string,
): Rule => ({ keys, broken: (config, daemon) => (isBroken(config, daemon) ? sentence : null) });

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i;

type Link = Secret | string | null;

interface Named {
  readonly key: string;
  readonly link: (config: Config) => Link;
  /** Names the right place for user and password of the link. Null if they may be in the link. */
  readonly secrets: string | null;
}

const KEY_FILE = (section: string): string => `${section}.keyFile`;
const LINK_FILE = 'staticExport.bundleUrlFile, which a Secret may mount';

const NAMED: readonly Named[] = [
  {
    key: 'staticExport.bundleUrl',
    link: ({ staticExport: { enabled, bundleUrl } }) => (enabled ? bundleUrl : null),
    secrets: LINK_FILE,
  },
  {
    key: 'staticExport.bundleUrlFile',
    link: ({ staticExport: { enabled, bundleUrlFile } }) => (enabled ? (bundleUrlFile?.text ?? null) : null),
    secrets: null,
  },
  {
    key: 'staticExport.signature.url',
    link: ({ staticExport: { enabled, signature } }) => (enabled ? signature.url : null),
    secrets: 'staticExport.signature.file with a downloaded signature',
  },
  {
    key: 'staticExport.renew.apiUrl',
    // An air-gapped deployment has another fault for this key.
    link: ({ staticExport: { enabled, renew }, deployment }) =>
      enabled && deployment.type !== 'air-gapped' ? renew.apiUrl : null,
    secrets: KEY_FILE('staticExport.renew'),
  },
  {
    key: 'features.search.discoveryUrl',
    // In an air-gapped deployment it is disabled, which the feature report shows (contract, section 4).
    link: ({ features: { search }, deployment }) =>
      search.enabled !== false && deployment.type !== 'air-gapped' ? search.discoveryUrl : null,
    secrets: KEY_FILE('features.search'),
  },
  {
    key: 'server.auth.issuer',
    link: ({ server: { auth } }) => (auth.kind === 'oidc' ? auth.issuer : null),
    secrets: 'server.auth.clientSecretFile',
  },
  {
    key: 'search.model',
    link: ({ search: { enabled, model } }) => (enabled && typeof model === 'object' ? model.url : null),
    secrets: KEY_FILE('search.model'),
  },
  {
    key: 'exportApi.store.endpoint',
    link: ({ exportApi: { enabled, store } }) => {
      const { kind, bucket, region, endpoint } = store;
      // If the environment names the region, the egress policy checks the host at run time.
      if (!enabled || kind !== 's3' || bucket === null || (region ?? endpoint) === null) return null;
      return s3UrlOf({ ...store, bucket });
    },
    secrets: 'exportApi.store.accessKeyId and secretAccessKey',
  },
  { key: 'traces.endpoint', link: ({ traces }) => traces.endpoint, secrets: 'traces.headersFile' },
  {
    key: 'database.urlFile',
    link: ({ database: { urlFile } }) => databaseHost(urlFile?.text.reveal() ?? ''),
    secrets: null,
  },
];

function databaseHost(url: string): string | null {
  const address = parseDatabaseUrl(url);
  return address === null || address.host.startsWith('/') ? null : `http://${urlHost(address.host)}:${address.port}`;
}

const textOf = (link: Link): string | null => (link instanceof Secret ? link.reveal() : link);

const hostRules = ({ deployment, network }: Config): HostRules =>
  hostRulesOf(deployment.type === 'air-gapped', network.allowedHosts);

export function forbiddenHost(config: Config, link: Link): string | null {
  const url = askedUrl(textOf(link), config.network.s3);
  if (url === null || namesHost(hostRules(config), url)) return null;
  const gap =
    config.deployment.type === 'air-gapped' ? ', and an air-gapped deployment contacts only listed hosts' : '';
  return `contains a host that network.allowedHosts does not list${gap}; add the host there, or remove the link`;
}

/** Rejects an entry `host:port` of a crawl source whose host network.allowedHosts does not contain. The entry itself only allows private addresses. */
export function forbiddenPair(config: Config, pair: string): string | null {
  const url = URL.parse(`http://${pair}`);
  if (fits(pair, { format: 'cidr' }) || url === null || namesHost(hostRules(config), url)) return null;
  return `contains a host that network.allowedHosts does not list; add "${pair}" there, or remove it here`;
}

export function userInLink(link: Link, secrets: string): string | null {
  const url = askedUrl(textOf(link), null);
  if (url === null || (url.username === '' && url.password === '')) return null;
  return `has a user or a password in its link; remove them, and use ${secrets}`;
}

function outsideRoots(key: string, read: (config: Config) => Link): Rule {
  return rule(
    [key, 'network.fileRoots', 'staticExport.preload'],
    (config, daemon) => {
      const text = textOf(read(config));
      if (text === null || !/^file:\/\/\//i.test(text) || !URL.canParse(text)) return false;
      const preloads = [config, daemon].map(({ staticExport }) => staticExport.preload.dir);
      const { fileRoots } = config.network;
      return !(fileRoots.length > 0 ? fileRoots : preloads).some((root) => isBelow(root, fileURLToPath(text)));
    },
    `${key} points to a file outside network.fileRoots; add its folder there, or put the archive into the preload folder`,
  );
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && !/^\.\.(?:\/|$)/.test(way);
}

export const EGRESS_RULES: readonly Rule[] = [
  ...NAMED.flatMap(({ key, link, secrets }): Rule[] => {
    const keys = key === 'exportApi.store.endpoint' ? [key, 'exportApi.store.bucket'] : [key];
    const withKey = (sentence: string | null): string | null => (sentence === null ? null : `${key} ${sentence}`);
    return [
      { keys, broken: (config) => withKey(forbiddenHost(config, link(config))) },
      ...(secrets === null ? [] : [{ keys, broken: (config: Config) => withKey(userInLink(link(config), secrets)) }]),
    ];
  }),
  {
    // This endpoint determines the host of buckets, and the rules for links check that host.
    keys: ['network.s3.endpoint'],
    broken: ({ network: { s3 } }) => {
      const sentence = userInLink(s3.endpoint, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment');
      return sentence === null ? null : `network.s3.endpoint ${sentence}`;
    },
  },
  outsideRoots('staticExport.bundleUrl', ({ staticExport }) => (staticExport.enabled ? staticExport.bundleUrl : null)),
  outsideRoots('staticExport.bundleUrlFile', ({ staticExport: { enabled, bundleUrlFile } }) =>
    enabled ? (bundleUrlFile?.text ?? null) : null,
  ),
  outsideRoots('staticExport.signature.url', ({ staticExport }) =>
    staticExport.enabled ? staticExport.signature.url : null,
  ),
];

const SIGN_IN_RULES: readonly Rule[] = [
  rule(
    ['server.auth.kind', 'server.auth.usersFile'],
    ({ server: { auth } }) => auth.kind === 'basic' && auth.usersFile === null,
    'server.auth.kind is basic, which needs users: create a file with htpasswd -B, and set server.auth.usersFile to its path',
  ),
  rule(
    ['server.auth.kind', 'server.auth.name'],
    ({ server: { auth } }) => auth.kind === 'header' && auth.name === null,
    'server.auth.kind is header, which needs the name of the header: set server.auth.name',
  ),
  rule(
    ['server.auth.kind', 'server.trustedProxies'],
    ({ server: { auth, trustedProxies } }) => auth.kind === 'header' && trustedProxies.length === 0,
    'server.auth.kind is header, but no proxy is trusted to send the header: add the address of the proxy to server.trustedProxies',
  ),
  rule(
    ['server.trustedProxies', 'server.auth.kind'],
    ({ server: { auth, trustedProxies } }) =>
      auth.kind === 'header' && trustedProxies.some((network) => network.endsWith('/0')),
    'server.trustedProxies contains a network of all addresses, so that every reader could send the header in server.auth.name; list only the addresses of your proxies',
  ),
  rule(
    ['server.auth.kind', 'server.auth.issuer', 'server.auth.clientId'],
    ({ server: { auth } }) => auth.kind === 'oidc' && (auth.issuer === null || auth.clientId === null),
    'server.auth.kind is oidc, which needs a provider: set server.auth.issuer and server.auth.clientId',
  ),
  rule(
    ['server.auth.issuer'],
    ({ server: { auth } }) => auth.kind === 'oidc' && !isEncrypted(auth.issuer),
    'server.auth.issuer is not encrypted, so that an attacker on the network could sign in as any reader; use an https URL',
  ),
  rule(
    ['server.publicUrl', 'server.auth.kind'],
    ({ server: { auth, publicUrl } }) => auth.kind === 'oidc' && publicUrl === null,
    'server.auth.kind is oidc, and the provider redirects readers back to the site: set server.publicUrl to the URL of the site',
  ),
  rule(
    ['server.publicUrl', 'server.auth.kind'],
    ({ server: { auth, publicUrl } }) => auth.kind === 'oidc' && !isEncrypted(publicUrl),
    'server.publicUrl is not encrypted, and browsers store no session cookie for such a site; use an https URL',
  ),
];

/** True also without a URL, and for loopback, which never leaves the machine. */
function isEncrypted(url: string | null): boolean {
  if (url === null) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || LOOPBACK.test(hostname);
}

const ANY_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** Headers that HTTP or docshelf itself sets. */
const OWN_HEADERS =
  /^(?:accept-ranges|age|connection|content-(?:encoding|length|location|range|type)|date|etag|expires|host|keep-alive|last-modified|location|proxy-.*|retry-after|te|trailer|transfer-encoding|upgrade|vary|via|warning|www-authenticate|x-request-id)$/i;

const RULES: readonly Rule[] = [
  {
    keys: ['server.headers.set'],
    broken: ({ server }) => {
      const name = Object.keys(server.headers.set).find((each) => OWN_HEADERS.test(each));
      return name === undefined ? null : `server.headers.set contains "${name}", which docshelf sets itself; remove it`;
    },
  },
  rule(
    ['staticExport.bundleUrlFile', 'staticExport.bundleUrl'],
    ({ staticExport }) => staticExport.bundleUrl !== null && staticExport.bundleUrlFile !== null,
    'staticExport.bundleUrl and staticExport.bundleUrlFile are both set; keep one of them',
  ),
  rule(
    ['staticExport.signature.file', 'staticExport.signature.url'],
    ({ staticExport: { signature } }) => signature.file !== null && signature.url !== null,
    'staticExport.signature.file and staticExport.signature.url are both set; keep one of them',
  ),
  rule(
    ['staticExport.signature.required', 'staticExport.signature.file', 'staticExport.signature.url'],
    ({ staticExport: { signature } }) =>
      (signature.required === true || signature.file !== null || signature.url !== null) &&
      signature.publicKeys.length === 0,
    'staticExport.signature has no key to verify with: set staticExport.signature.publicKeys',
  ),
  rule(
    ['apiUrl', 'keyFile', 'domain', 'jobId', 'every'].map((name) => `staticExport.renew.${name}`),
    ({ staticExport: { renew } }) =>
      Object.values(renew).some((value) => value !== null) && (renew.apiUrl === null || renew.keyFile === null),
    'staticExport.renew needs both apiUrl and keyFile: the address of the export service, and the file with its admin key',
  ),
  rule(
    ['staticExport.renew.apiUrl', 'deployment.type'],
    ({ staticExport, deployment }) => staticExport.renew.apiUrl !== null && deployment.type === 'air-gapped',
    'staticExport.renew contacts a service, but an air-gapped deployment has no outbound network; remove it',
  ),
  rule(
    ['staticExport.renew.apiUrl', 'staticExport.renew.domain', 'staticExport.renew.jobId', 'deployment.domain'],
    ({ staticExport: { renew }, deployment }) =>
      renew.apiUrl !== null && renew.domain === null && renew.jobId === null && deployment.domain === null,
    'staticExport.renew has no domain and no job: set staticExport.renew.domain, or staticExport.renew.jobId',
  ),
  rule(
    ['staticExport.from', 'exportApi.enabled', 'exportApi.role'],
    ({ staticExport, exportApi }) =>
      staticExport.from === 'exports' && (!exportApi.enabled || exportApi.role === 'worker'),
    'staticExport.from is exports, but this daemon has no exports: set exportApi.enabled to true, and exportApi.role to both or api',
  ),
  ...['bundleUrl', 'bundleUrlFile', 'renew.apiUrl'].map((name) =>
    rule(
      ['staticExport.from', `staticExport.${name}`],
      (config) =>
        config.staticExport.from === 'exports' && valueAt(config, ['staticExport', ...name.split('.')]) !== null,
      `staticExport.from is exports, but staticExport.${name} is also set; keep one of them`,
    ),
  ),
  // Every export is a new bundle, so a setting that pins one bundle can never match it.
  againstEvery('staticExport.version', 'pins one version', ({ staticExport }) => staticExport.version),
  againstEvery('staticExport.sha256', 'pins one bundle', ({ staticExport }) => staticExport.sha256),
  againstEvery('staticExport.renew.jobId', 'pins one export', ({ staticExport }) => staticExport.renew.jobId),
  rule(
    ['server.basePath'],
    ({ server }) => /^\/_docshelf(?:\/|$)/.test(server.basePath),
    'server.basePath is under /_docshelf, which docshelf reserves; choose another path',
  ),
  rule(
    ['admin.token'],
    ({ admin }) => admin.token !== null && isGuessable(admin.token.reveal()),
    'admin.token is easy to guess, because it repeats a few characters or is a sequence; create a random token with "openssl rand -hex 16"',
  ),
  portsApart('admin', 'server', () => true),
  portsApart('api', 'server', apiListens),
  portsApart('api', 'admin', apiListens),
  rule(
    ['features.search.discoveryUrl', 'features.search.keyFile'],
    ({ features: { search } }) => (search.discoveryUrl === null) !== (search.keyFile === null),
    'only one of features.search.discoveryUrl and features.search.keyFile is set; set both, or neither',
  ),
  rule(
    ['search.keys', 'organizations'],
    ({ search, organizations }) => search.keys.length > 0 && organizations.length > 0,
    'search.keys is only for a daemon without organizations; move the keys to an organization, with type assistant',
  ),
  rule(
    ['exportApi.store.bucket', 'exportApi.store.kind'],
    ({ exportApi: { store } }) => store.kind === 's3' && store.bucket === null,
    'exportApi.store.kind is s3, which needs a bucket: set exportApi.store.bucket',
  ),
  rule(
    ['exportApi.store.kmsKeyId', 'exportApi.store.encryption'],
    ({ exportApi: { store } }) => store.kmsKeyId !== null && store.encryption !== 'kms',
    'exportApi.store.kmsKeyId is set, but exportApi.store.encryption is not kms: set it to kms, or remove kmsKeyId',
  ),
  rule(
    ['exportApi.role', 'exportApi.queue.kind', 'database.urlFile'],
    ({ exportApi, database }) =>
      exportApi.role !== 'both' && (database.urlFile === null || exportApi.queue.kind === 'sqlite'),
    'exportApi.role is api or worker, which needs jobs in PostgreSQL: set database.urlFile and exportApi.queue.kind to postgres, or set exportApi.role to both',
  ),
  rule(
    ['exportApi.queue.kind', 'database.urlFile'],
    ({ exportApi, database }) => exportApi.queue.kind === 'postgres' && database.urlFile === null,
    'exportApi.queue.kind is postgres, but no database is configured: set database.urlFile',
  ),
  rule(
    ['exportApi.store.accessKeyId', 'exportApi.store.secretAccessKey'],
    ({ exportApi: { store } }) => (store.accessKeyId === null) !== (store.secretAccessKey === null),
    'only one of exportApi.store.accessKeyId and exportApi.store.secretAccessKey is set; set both, or neither',
  ),
  rule(
    ['api.publicUrl', 'api.host', 'exportApi.enabled'],
    // Links need an address of this daemon, and the Host header of a request is untrusted (contract, section 6).
    ({ exportApi, api }) =>
      exportApi.enabled &&
      exportApi.role !== 'worker' &&
      exportApi.store.kind === 'disk' &&
      api.publicUrl === null &&
      !LOOPBACK.test(api.host),
    'api.publicUrl is not set and api.host is not a loopback address: set api.publicUrl to the URL under which clients reach the API, because links to bundles contain it',
  ),
  ...EGRESS_RULES,
  ...SIGN_IN_RULES,
];

/** The API listener is open if search or the export API is on (contract, section 2). */
function apiListens({ search, exportApi }: Config): boolean {
  return search.enabled || exportApi.enabled;
}

function againstEvery(key: string, does: string, read: (config: Config) => unknown): Rule {
  return rule(
    ['staticExport.renew.every', key],
    (config) => config.staticExport.renew.everyMs !== null && read(config) !== null,
    `staticExport.renew.every exports the site again each time, but ${key} ${does}; keep one of them`,
  );
}

type Listener = 'server' | 'admin' | 'api';

function portsApart(one: Listener, other: Listener, areOpen: (config: Config) => boolean): Rule {
  return {
    keys: [`${one}.port`, `${other}.port`, `${one}.host`, `${other}.host`],
    broken: (config) => {
      const [{ host, port }, second] = [config[one], config[other]];
      if (port !== second.port || port === 0 || !areOpen(config)) return null;
      const overlap = host === second.host || ANY_HOST.has(host) || ANY_HOST.has(second.host);
      return overlap ? `${one}.port and ${other}.port are both ${port} on the same address; change one of them` : null;
    },
  };
}

/** True if almost every character repeats one of the five before it, or continues a sequence up or down. */
function isGuessable(token: string): boolean {
  const codes = Array.from(token, (character) => character.charCodeAt(0));
  const exceptions = (distance: number, step: number): number =>
    codes.filter((code, at) => at >= distance && code - (codes[at - distance] ?? 0) !== step).length;
  const fewest = Math.min(
    ...[1, 2, 3, 4, 5].map((distance) => exceptions(distance, 0)),
    exceptions(1, 1),
    exceptions(1, -1),
  );
  return fewest <= codes.length / 8;
}
