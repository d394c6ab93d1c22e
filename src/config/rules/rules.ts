import { valueAt } from '../decode.ts';
import { type ConfigFault, faultOf } from '../faults.ts';
import type { Config } from '../schema/index.ts';
import { pointerOf, type Settings } from '../setting.ts';
import { EGRESS_RULES } from './egress-rules.ts';
import { LOOPBACK, type Rule, rule } from './rule.ts';
import { SIGN_IN_RULES } from './sign-in-rules.ts';

const ANY_HOST: ReadonlySet<string> = new Set(['0.0.0.0', '::']);

/** What HTTP or docshelf itself says of an answer. */
const OWN_HEADERS =
  /^(?:accept-ranges|age|connection|content-(?:encoding|length|location|range|type)|date|etag|expires|host|keep-alive|last-modified|location|proxy-.*|retry-after|te|trailer|transfer-encoding|upgrade|vary|via|warning|www-authenticate|x-request-id)$/i;

const RULES: readonly Rule[] = [
  {
    keys: ['server.headers.set'],
    broken: ({ server }) => {
      const name = Object.keys(server.headers.set).find((each) => OWN_HEADERS.test(each));
      return name === undefined ? null : `server.headers.set has "${name}", which docshelf says itself; remove it`;
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
    'staticExport.renew asks a service, and an air-gapped deployment has no outbound network; remove it',
  ),
  rule(
    ['staticExport.renew.apiUrl', 'staticExport.renew.domain', 'staticExport.renew.jobId', 'deployment.domain'],
    ({ staticExport: { renew }, deployment }) =>
      renew.apiUrl !== null && renew.domain === null && renew.jobId === null && deployment.domain === null,
    'staticExport.renew does not say whose bundle it renews: set staticExport.renew.domain, or staticExport.renew.jobId',
  ),
  rule(
    ['staticExport.from', 'exportApi.enabled', 'exportApi.role'],
    ({ staticExport, exportApi }) =>
      staticExport.from === 'exports' && (!exportApi.enabled || exportApi.role === 'worker'),
    'staticExport.from is exports, and this daemon keeps none: set exportApi.enabled, with a role that is not worker',
  ),
  ...['bundleUrl', 'bundleUrlFile', 'renew.apiUrl'].map((name) =>
    rule(
      ['staticExport.from', `staticExport.${name}`],
      (config) =>
        config.staticExport.from === 'exports' && valueAt(config, ['staticExport', ...name.split('.')]) !== null,
      `staticExport.from is exports, and staticExport.${name} asks for another bundle; keep one of them`,
    ),
  ),
  // Every export is a new bundle: what asks for one bundle, and no other, cannot be met by it.
  againstEvery('staticExport.version', 'pins one version', ({ staticExport }) => staticExport.version),
  againstEvery('staticExport.sha256', 'asks for one bundle', ({ staticExport }) => staticExport.sha256),
  againstEvery('staticExport.renew.jobId', 'names one export', ({ staticExport }) => staticExport.renew.jobId),
  rule(
    ['server.basePath'],
    ({ server }) => /^\/_docshelf(?:\/|$)/.test(server.basePath),
    "server.basePath lies below /_docshelf, which is docshelf's own; choose another path",
  ),
  rule(
    ['admin.token'],
    ({ admin }) => admin.token !== null && isGuessable(admin.token.reveal()),
    'admin.token is easy to guess: it repeats a few characters or counts on; use a random one, as "openssl rand -hex 16" prints',
  ),
  portsApart('admin', 'server', () => true),
  portsApart('api', 'server', apiListens),
  portsApart('api', 'admin', apiListens),
  rule(
    ['features.search.discoveryUrl', 'features.search.keyFile'],
    ({ features: { search } }) => (search.discoveryUrl === null) !== (search.keyFile === null),
    'features.search.discoveryUrl and features.search.keyFile go together: set both, or neither',
  ),
  rule(
    ['search.keys', 'organizations'],
    ({ search, organizations }) => search.keys.length > 0 && organizations.length > 0,
    'search.keys are the keys of a daemon without organizations; give them to an organization, as keys of type assistant',
  ),
  rule(
    ['exportApi.store.bucket', 'exportApi.store.kind'],
    ({ exportApi: { store } }) => store.kind === 's3' && store.bucket === null,
    'exportApi.store.kind is s3, which needs a bucket: set exportApi.store.bucket',
  ),
  rule(
    ['exportApi.store.kmsKeyId', 'exportApi.store.encryption'],
    ({ exportApi: { store } }) => store.kmsKeyId !== null && store.encryption !== 'kms',
    'exportApi.store.kmsKeyId is a key of KMS, and exportApi.store.encryption is not kms: set it, or remove the key',
  ),
  rule(
    ['exportApi.role', 'exportApi.queue.kind', 'database.urlFile'],
    ({ exportApi, database }) =>
      exportApi.role !== 'both' && (database.urlFile === null || exportApi.queue.kind === 'sqlite'),
    'exportApi.role divides the work between daemons, whose jobs are in PostgreSQL: set database.urlFile and no other exportApi.queue.kind, or set the role to both',
  ),
  rule(
    ['exportApi.queue.kind', 'database.urlFile'],
    ({ exportApi, database }) => exportApi.queue.kind === 'postgres' && database.urlFile === null,
    'exportApi.queue.kind is postgres, and there is no database: set database.urlFile',
  ),
  rule(
    ['exportApi.store.accessKeyId', 'exportApi.store.secretAccessKey'],
    ({ exportApi: { store } }) => (store.accessKeyId === null) !== (store.secretAccessKey === null),
    'exportApi.store.accessKeyId and exportApi.store.secretAccessKey go together: set both, or neither',
  ),
  rule(
    ['api.publicUrl', 'api.host', 'exportApi.enabled'],
    // Links must lead back here, and a request's Host is nothing to trust (contract, section 6).
    ({ exportApi, api }) =>
      exportApi.enabled &&
      exportApi.role !== 'worker' &&
      exportApi.store.kind === 'disk' &&
      api.publicUrl === null &&
      !LOOPBACK.test(api.host),
    'api.publicUrl is not set and api.host is no loopback address: links to bundles need to know how clients reach the API',
  ),
  ...EGRESS_RULES,
  ...SIGN_IN_RULES,
];

/** Contract, section 2: the API listener is open where search or the export API is on. */
function apiListens({ search, exportApi }: Config): boolean {
  return search.enabled || exportApi.enabled;
}

function againstEvery(key: string, does: string, read: (config: Config) => unknown): Rule {
  return rule(
    ['staticExport.renew.every', key],
    (config) => config.staticExport.renew.everyMs !== null && read(config) !== null,
    `staticExport.renew.every has the site exported anew each time, and ${key} ${does}; keep one of them`,
  );
}

type Listener = 'server' | 'admin' | 'api';

function portsApart(one: Listener, other: Listener, areOpen: (config: Config) => boolean): Rule {
  return {
    keys: [`${one}.port`, `${other}.port`, `${one}.host`, `${other}.host`],
    broken: (config) => {
      const [{ host, port }, second] = [config[one], config[other]];
      // Port 0 takes a free one each time.
      if (port !== second.port || port === 0 || !areOpen(config)) return null;
      const overlap = host === second.host || ANY_HOST.has(host) || ANY_HOST.has(second.host);
      return overlap ? `${one}.port and ${other}.port are both ${port} on the same address; change one of them` : null;
    },
  };
}

/** Faults between keys; those in `faulty` (pointers) have one of their own. */
export function findBrokenRules(
  settings: Settings,
  config: Config,
  faulty: ReadonlySet<string>,
  daemon: Config = config,
): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const { keys, broken } of RULES) {
    const message = broken(config, daemon);
    // A key that has a fault of its own stands here with its default, and says nothing.
    if (message === null || keys.some((key) => faulty.has(pointerOf(key.split('.'))))) continue;
    const key = keys.find((candidate) => settings.get(candidate) !== undefined) ?? keys[0] ?? null;
    const where = key === null ? null : (settings.get(key)?.where ?? null);
    faults.push(faultOf(message, key, where));
  }
  return faults;
}

/** True if all but a few characters repeat the one up to five places before, or count on from the last one, up or down. */
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
