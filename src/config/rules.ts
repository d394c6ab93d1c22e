import { createPrivateKey, X509Certificate } from 'node:crypto';
import { relative } from 'node:path';
import { createSecureContext } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { askedUrl } from '../domain/bundle-link.ts';
import { parseDatabaseUrl } from '../domain/database-address.ts';
import { hostRulesOf, namesHost, s3UrlOf, urlHost } from '../domain/egress.ts';
import type { Secret } from '../domain/secret.ts';
import type { Config } from './schema/index.ts';
import { fits } from './schema-node.ts';
import { type ConfigFault, faultInside, faultOf, pointerOf, type Settings } from './setting.ts';

type Rule = readonly [keys: readonly string[], isBroken: boolean, sentence: string];

export function findBrokenRules(
  settings: Settings,
  config: Config,
  faulty: ReadonlySet<string>,
  daemon: Config = config,
): ConfigFault[] {
  const rules = [
    ...deploymentRules(config),
    ...serviceRules(config),
    ...egressRules(config, daemon),
    ...signInRules(config),
  ];
  const faults: ConfigFault[] = [];
  for (const [keys, isBroken, sentence] of rules) {
    // Skip a rule that reads an invalid key, because `config` has the default of this key instead of the written value.
    if (!isBroken || keys.some((key) => faulty.has(pointerOf(key.split('.'))))) continue;
    const key = keys.find((candidate) => settings.get(candidate) !== undefined) ?? keys[0] ?? null;
    const where = key === null ? null : (settings.get(key)?.where ?? null);
    faults.push(faultOf(sentence, key, where));
  }
  return faults;
}

const RENEW_KEYS = ['apiUrl', 'keyFile', 'domain', 'jobId', 'every'].map((name) => `staticExport.renew.${name}`);

function deploymentRules({ staticExport, deployment, exportApi }: Config): Rule[] {
  const { bundleUrl, bundleUrlFile, signature, renew, version, sha256 } = staticExport;
  const isFromExports = staticExport.from === 'exports';
  const isSigned = signature.required === true || signature.file !== null || signature.url !== null;
  const links = { bundleUrl, bundleUrlFile, 'renew.apiUrl': renew.apiUrl };
  // Settings that contradict `renew.every`, because each renewal is a new export with a new bundle.
  const pins = [
    ['version', 'pins one version', version],
    ['sha256', 'pins one bundle', sha256],
    ['renew.jobId', 'pins one export', renew.jobId],
  ] as const;
  return [
    [
      ['staticExport.bundleUrlFile', 'staticExport.bundleUrl'],
      bundleUrl !== null && bundleUrlFile !== null,
      'staticExport.bundleUrl and staticExport.bundleUrlFile are both set; keep one of them',
    ],
    [
      ['staticExport.signature.file', 'staticExport.signature.url'],
      signature.file !== null && signature.url !== null,
      'staticExport.signature.file and staticExport.signature.url are both set; keep one of them',
    ],
    [
      ['staticExport.signature.required', 'staticExport.signature.file', 'staticExport.signature.url'],
      isSigned && signature.publicKeys.length === 0,
      'staticExport.signature has no key to verify with: set staticExport.signature.publicKeys',
    ],
    [
      RENEW_KEYS,
      Object.values(renew).some((value) => value !== null) && (renew.apiUrl === null || renew.keyFile === null),
      'staticExport.renew needs both apiUrl and keyFile: the address of the export service, and the file with its admin key',
    ],
    [
      ['staticExport.renew.apiUrl', 'deployment.type'],
      renew.apiUrl !== null && deployment.type === 'air-gapped',
      'staticExport.renew contacts a service, but an air-gapped deployment has no outbound network; remove staticExport.renew',
    ],
    [
      ['staticExport.renew.apiUrl', 'staticExport.renew.domain', 'staticExport.renew.jobId', 'deployment.domain'],
      renew.apiUrl !== null && renew.domain === null && renew.jobId === null && deployment.domain === null,
      'staticExport.renew has no domain and no job: set staticExport.renew.domain, or staticExport.renew.jobId',
    ],
    [
      ['staticExport.from', 'exportApi.enabled', 'exportApi.role'],
      isFromExports && (!exportApi.enabled || exportApi.role === 'worker'),
      'staticExport.from is exports, but this daemon has no exports: set exportApi.enabled to true, and exportApi.role to both or api',
    ],
    ...Object.entries(links).map(
      ([name, value]): Rule => [
        ['staticExport.from', `staticExport.${name}`],
        isFromExports && value !== null,
        `staticExport.from is exports, but staticExport.${name} is also set; keep one of them`,
      ],
    ),
    ...pins.map(
      ([name, does, value]): Rule => [
        ['staticExport.renew.every', `staticExport.${name}`],
        renew.everyMs !== null && value !== null,
        `staticExport.renew.every exports the site again each time, but staticExport.${name} ${does}; keep one of them`,
      ],
    ),
  ];
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i;

const RESERVED_HEADERS =
  /^(?:accept-ranges|age|connection|content-(?:encoding|length|location|range|type)|date|etag|expires|host|keep-alive|last-modified|location|proxy-.*|retry-after|te|trailer|transfer-encoding|upgrade|vary|via|warning|www-authenticate|x-request-id)$/i;

function serviceRules(config: Config): Rule[] {
  const { server, admin, api, search, features, organizations, exportApi, database } = config;
  const { store, queue, role } = exportApi;
  const { discoveryUrl, keyFile } = features.search;
  const reservedHeader = Object.keys(server.headers.set).find((name) => RESERVED_HEADERS.test(name));
  const apiListens = search.enabled || exportApi.enabled;
  return [
    [
      ['server.headers.set'],
      reservedHeader !== undefined,
      `server.headers.set contains "${reservedHeader}", which docshelf sets itself; remove this header`,
    ],
    [
      ['server.basePath'],
      /^\/_docshelf(?:\/|$)/.test(server.basePath),
      'server.basePath is under /_docshelf, which docshelf reserves; choose another path',
    ],
    [
      ['admin.token'],
      admin.token !== null && isGuessable(admin.token.reveal()),
      'admin.token is easy to guess, because it repeats a few characters or is a sequence; create a random token with "openssl rand -hex 16"',
    ],
    portsApart('admin', 'server', config),
    ...(apiListens ? [portsApart('api', 'server', config), portsApart('api', 'admin', config)] : []),
    [
      ['features.search.discoveryUrl', 'features.search.keyFile'],
      (discoveryUrl === null) !== (keyFile === null),
      'only one of features.search.discoveryUrl and features.search.keyFile is set; set both, or neither',
    ],
    [
      ['search.keys', 'organizations'],
      search.keys.length > 0 && organizations.length > 0,
      'search.keys is only for a daemon without organizations; move the keys to an organization, with type assistant',
    ],
    [
      ['exportApi.store.bucket', 'exportApi.store.kind'],
      store.kind === 's3' && store.bucket === null,
      'exportApi.store.kind is s3, which needs a bucket: set exportApi.store.bucket',
    ],
    [
      ['exportApi.store.kmsKeyId', 'exportApi.store.encryption'],
      store.kmsKeyId !== null && store.encryption !== 'kms',
      'exportApi.store.kmsKeyId is set, but exportApi.store.encryption is not kms: set encryption to kms, or remove kmsKeyId',
    ],
    [
      ['exportApi.role', 'exportApi.queue.kind', 'database.urlFile'],
      role !== 'both' && (database.urlFile === null || queue.kind === 'sqlite'),
      'exportApi.role is api or worker, which needs jobs in PostgreSQL: set database.urlFile and exportApi.queue.kind to postgres, or set exportApi.role to both',
    ],
    [
      ['exportApi.queue.kind', 'database.urlFile'],
      queue.kind === 'postgres' && database.urlFile === null,
      'exportApi.queue.kind is postgres, but no database is configured: set database.urlFile',
    ],
    [
      ['exportApi.store.accessKeyId', 'exportApi.store.secretAccessKey'],
      (store.accessKeyId === null) !== (store.secretAccessKey === null),
      'only one of exportApi.store.accessKeyId and exportApi.store.secretAccessKey is set; set both, or neither',
    ],
    [
      ['api.publicUrl', 'api.host', 'exportApi.enabled'],
      // Require a configured URL for links to bundles on disk, because the Host header of a request is untrusted.
      exportApi.enabled &&
        role !== 'worker' &&
        store.kind === 'disk' &&
        api.publicUrl === null &&
        !LOOPBACK.test(api.host),
      'api.publicUrl is not set and api.host is not a loopback address: set api.publicUrl to the URL under which clients reach the API, because links to bundles contain it',
    ],
  ];
}

const ANY_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

const LISTENERS = ['server', 'admin', 'api'] as const;
type Listener = (typeof LISTENERS)[number];

function portsApart(one: Listener, other: Listener, { [one]: first, [other]: second }: Config): Rule {
  const overlap = first.host === second.host || ANY_HOST.has(first.host) || ANY_HOST.has(second.host);
  return [
    [`${one}.port`, `${other}.port`, `${one}.host`, `${other}.host`],
    first.port === second.port && first.port !== 0 && overlap,
    `${one}.port and ${other}.port are both ${first.port} on the same address; change one of them`,
  ];
}

/** True if the token is mostly a repeated group of up to five characters, such as `abcabc`, or a sequence such as `4567`. */
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

interface ContactedLink {
  readonly key: string;
  /** Link in the config. Null if the setting is missing, or if its feature is off. */
  readonly link: Secret | string | null | undefined;
  /** Place that the error message recommends for the user and password of the link. Null if the link itself may contain both. */
  readonly secrets: string | null;
}

/** All URLs in the config that docshelf contacts, except those of organizations. */
export function contactedLinks(config: Config): readonly ContactedLink[] {
  const { staticExport, features, server, search, exportApi, traces, database } = config;
  const { enabled, bundleUrl, bundleUrlFile, signature, renew } = staticExport;
  const { auth } = server;
  const { store } = exportApi;
  // An air-gapped deployment has no hosted search, and another rule already rejects its `renew.apiUrl`, so omit both URLs.
  const isAirGapped = config.deployment.type === 'air-gapped';
  const usesHostedSearch = features.search.enabled !== false && !isAirGapped;
  // Without a region or endpoint, the environment sets the bucket's host, which the egress policy checks at run time.
  const hasBucket = exportApi.enabled && store.kind === 's3' && (store.region ?? store.endpoint) !== null;
  return [
    {
      key: 'staticExport.bundleUrl',
      link: enabled ? bundleUrl : null,
      secrets: 'staticExport.bundleUrlFile, which a Secret may mount',
    },
    { key: 'staticExport.bundleUrlFile', link: enabled ? bundleUrlFile?.text : null, secrets: null },
    {
      key: 'staticExport.signature.url',
      link: enabled ? signature.url : null,
      secrets: 'staticExport.signature.file with a downloaded signature',
    },
    {
      key: 'staticExport.renew.apiUrl',
      link: enabled && !isAirGapped ? renew.apiUrl : null,
      secrets: 'staticExport.renew.keyFile',
    },
    {
      key: 'features.search.discoveryUrl',
      link: usesHostedSearch ? features.search.discoveryUrl : null,
      secrets: 'features.search.keyFile',
    },
    {
      key: 'server.auth.issuer',
      link: auth.kind === 'oidc' ? auth.issuer : null,
      secrets: 'server.auth.clientSecretFile',
    },
    {
      key: 'search.model',
      link: search.enabled && typeof search.model === 'object' ? search.model.url : null,
      secrets: 'search.model.keyFile',
    },
    {
      key: 'exportApi.store.endpoint',
      link: hasBucket && store.bucket !== null ? s3UrlOf({ ...store, bucket: store.bucket }) : null,
      secrets: 'exportApi.store.accessKeyId and secretAccessKey',
    },
    { key: 'traces.endpoint', link: traces.endpoint, secrets: 'traces.headersFile' },
    {
      key: 'database.urlFile',
      link: database.urlFile === null ? null : databaseHost(database.urlFile.text.reveal()),
      secrets: null,
    },
  ];
}

function databaseHost(url: string): string | null {
  const address = parseDatabaseUrl(url);
  return address === null || address.host.startsWith('/') ? null : `http://${urlHost(address.host)}:${address.port}`;
}

function egressRules(config: Config, daemon: Config): Rule[] {
  const { s3, fileRoots } = config.network;
  const roots = fileRoots.length > 0 ? fileRoots : [config.staticExport.preload.dir, daemon.staticExport.preload.dir];
  const rules: Rule[] = [];
  for (const { key, link, secrets } of contactedLinks(config)) {
    if (link === null || link === undefined) continue;
    const text = typeof link === 'string' ? link : link.reveal();
    const keys = key === 'exportApi.store.endpoint' ? [key, 'exportApi.store.bucket'] : [key];
    const host = forbiddenHost(config, text);
    const user = secrets === null ? null : userInLink(text, secrets);
    rules.push(
      [keys, host !== null, `${key} ${host}`],
      [keys, user !== null, `${key} ${user}`],
      [
        [key, 'network.fileRoots', 'staticExport.preload'],
        isOutside(text, roots),
        `${key} points to a file outside network.fileRoots; add the folder to network.fileRoots, or put the archive into the preload folder`,
      ],
    );
  }
  if (s3.endpoint !== null) {
    // Check only the user and password of the endpoint here. The rules above check its host for each S3 link in the config.
    const user = userInLink(s3.endpoint, 'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment');
    rules.push([['network.s3.endpoint'], user !== null, `network.s3.endpoint ${user}`]);
  }
  return rules;
}

export function forbiddenHost(config: Config, link: string | null): string | null {
  const url = askedUrl(link, config.network.s3);
  if (url === null || isNamed(config, url)) return null;
  const gap =
    config.deployment.type === 'air-gapped' ? ', and an air-gapped deployment contacts only listed hosts' : '';
  return `contains a host that network.allowedHosts does not list${gap}; add the host to network.allowedHosts, or remove the link`;
}

/**
 * Checks an entry `host:port` of `allowAddresses`. The entry lifts only the ban on private addresses, so network.allowedHosts
 * must also list the host.
 */
export function forbiddenPair(config: Config, pair: string): string | null {
  const url = URL.parse(`http://${pair}`);
  if (fits(pair, { format: 'cidr' }) || url === null || isNamed(config, url)) return null;
  return `contains a host that network.allowedHosts does not list; add "${pair}" to network.allowedHosts, or remove the entry`;
}

const isNamed = ({ deployment, network }: Config, url: URL): boolean =>
  namesHost(hostRulesOf(deployment.type === 'air-gapped', network.allowedHosts), url);

export function userInLink(link: string | null, secrets: string): string | null {
  const url = askedUrl(link, null);
  if (url === null || (url.username === '' && url.password === '')) return null;
  return `contains a user or a password; remove both from the link, and use ${secrets}`;
}

function isOutside(link: string, roots: readonly string[]): boolean {
  if (!/^file:\/\/\//i.test(link) || !URL.canParse(link)) return false;
  const ways = roots.map((root) => relative(root, fileURLToPath(link)));
  return ways.every((way) => way === '' || /^\.\.(?:\/|$)/.test(way));
}

function signInRules({ server: { auth, trustedProxies, publicUrl } }: Config): Rule[] {
  const isHeader = auth.kind === 'header';
  const isOidc = auth.kind === 'oidc';
  return [
    [
      ['server.auth.kind', 'server.auth.usersFile'],
      auth.kind === 'basic' && auth.usersFile === null,
      'server.auth.kind is basic, which needs users: create a file with htpasswd -B, and set server.auth.usersFile to its path',
    ],
    [
      ['server.auth.kind', 'server.auth.name'],
      isHeader && auth.name === null,
      'server.auth.kind is header, which needs the name of the header: set server.auth.name',
    ],
    [
      ['server.auth.kind', 'server.trustedProxies'],
      isHeader && trustedProxies.length === 0,
      'server.auth.kind is header, but no proxy is trusted to send the header: add the address of the proxy to server.trustedProxies',
    ],
    [
      ['server.trustedProxies', 'server.auth.kind'],
      isHeader && trustedProxies.some((network) => network.endsWith('/0')),
      'server.trustedProxies contains a network of all addresses, so that every reader could send the header in server.auth.name; list only the addresses of your proxies',
    ],
    [
      ['server.auth.kind', 'server.auth.issuer', 'server.auth.clientId'],
      isOidc && (auth.issuer === null || auth.clientId === null),
      'server.auth.kind is oidc, which needs a provider: set server.auth.issuer and server.auth.clientId',
    ],
    [
      ['server.auth.issuer'],
      isOidc && !isEncrypted(auth.issuer),
      'server.auth.issuer is not encrypted, so that an attacker on the network could sign in as any reader; use an https URL',
    ],
    [
      ['server.publicUrl', 'server.auth.kind'],
      isOidc && publicUrl === null,
      'server.auth.kind is oidc, and the provider redirects readers back to the site: set server.publicUrl to the URL of the site',
    ],
    [
      ['server.publicUrl', 'server.auth.kind'],
      isOidc && !isEncrypted(publicUrl),
      'server.publicUrl is not encrypted, and browsers store no session cookie for such a site; use an https URL',
    ],
  ];
}

/**
 * True for an HTTPS URL, and for a loopback URL, whose traffic stays on the machine. True for null, because another rule rejects
 * it.
 */
function isEncrypted(url: string | null): boolean {
  if (url === null) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || LOOPBACK.test(hostname);
}

type Pair = Pick<Config['server']['tls'], 'certFile' | 'keyFile'>;

export function findTlsFaults(settings: Settings, config: Config): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const listener of LISTENERS) {
    const { tls } = config[listener];
    const section = `${listener}.tls`;
    const report = (name: string, sentence: string): void => {
      const key = `${section}.${name}`;
      faults.push(faultOf(`${key} ${sentence}`, key, settings.get(key)?.where ?? null));
    };
    if (tls.certFile === null && tls.keyFile === null) {
      const needs = `needs a certificate: set ${section}.certFile and ${section}.keyFile`;
      if (tls.certificates.length > 0) report('certificates', needs);
      if (tls.hstsMs !== null) report('hsts', needs);
      if (tls.redirectPort !== null) report('redirectPort', needs);
    } else {
      const fault = pairFault(tls);
      if (fault !== null) report(...fault);
    }
    // Port 0 selects a free port, so it never conflicts.
    const taken = tls.redirectPort ? portTakenBy(config, listener) : null;
    if (taken !== null) report('redirectPort', `is also the port of ${taken}; change one of the two ports`);
    for (const [index, pair] of tls.certificates.entries()) {
      const [name, sentence] = pairFault(pair) ?? [];
      if (name === undefined) continue;
      const setting = settings.get(`${section}.certificates`);
      faults.push(faultInside(setting, [listener, 'tls', 'certificates', index, name], ` ${sentence}`));
    }
  }
  return faults;
}

/** Returns the config key with the same port as the listener's `redirectPort`, or null if no other key has this port. */
function portTakenBy(config: Config, listener: Listener): string | null {
  const { redirectPort } = config[listener].tls;
  const own = `${listener}.tls.redirectPort`;
  const taken = LISTENERS.flatMap((each) => {
    const { port, tls } = config[each];
    return Object.entries({ [`${each}.port`]: port, [`${each}.tls.redirectPort`]: tls.redirectPort });
  });
  return taken.find(([key, port]) => key !== own && port === redirectPort)?.[0] ?? null;
}

function pairFault({ certFile, keyFile }: Pair): readonly [name: string, sentence: string] | null {
  if (certFile === null && keyFile === null) return null;
  if (certFile === null) return ['keyFile', 'is set without a certificate; set certFile'];
  if (keyFile === null) return ['certFile', 'is set without a key; set keyFile'];
  const chain = certFile.text.reveal();
  const key = keyFile.text.reveal();
  if (chain === '' || key === '') return null;
  const unfit = unfitChain(chain, certFile.path);
  if (unfit !== null) return ['certFile', unfit];
  const state = unfitKey(chain, key);
  return state === null ? null : ['keyFile', `"${keyFile.path}" ${state}`];
}

function unfitChain(chain: string, path: string): string | null {
  try {
    new X509Certificate(chain);
    return null;
  } catch {
    return `"${path}" does not begin with a valid PEM certificate; write the certificate of the server first, then its issuers`;
  }
}

function unfitKey(chain: string, key: string): string | null {
  if (/ENCRYPTED/.test(key)) return 'has a passphrase; remove the passphrase from the key';
  try {
    const fits = new X509Certificate(chain).checkPrivateKey(createPrivateKey(key));
    if (!fits) return 'is the key of another certificate; set certFile and keyFile to a matching pair';
  } catch {
    return 'contains no valid PEM private key';
  }
  try {
    createSecureContext({ cert: chain, key });
    return null;
  } catch (error) {
    return `does not work with its certificate: OpenSSL rejects the pair (${(error as NodeJS.ErrnoException).code ?? 'no reason given'})`;
  }
}
