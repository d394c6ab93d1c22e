import type { ConfigFault } from './faults.ts';
import { pointerOf, type Settings } from './setting.ts';
import { type KeyValues, valueAt } from './values.ts';

interface Rule {
  /** The keys that it looks at; the fault is told at the first of them that somebody wrote. */
  readonly keys: readonly string[];
  /** The sentence, or null where the rule holds. */
  readonly broken: (values: KeyValues) => string | null;
}

const LOOPBACK = /^(?:127(?:\.\d{1,3}){3}|::1|\[::1\]|localhost)$/i;
const ANY_HOST: ReadonlySet<unknown> = new Set(['0.0.0.0', '::']);

/** What is asked of the export service. */
const RENEW_WISHES = ['domain', 'jobId', 'every'].map((name) => `staticExport.renew.${name}`);

const RULES: readonly Rule[] = [
  {
    keys: ['staticExport.bundleUrlFile', 'staticExport.bundleUrl'],
    broken: (values) =>
      valueAt(values, 'staticExport.bundleUrl') !== null && valueAt(values, 'staticExport.bundleUrlFile') !== null
        ? 'staticExport.bundleUrl and staticExport.bundleUrlFile are both set; keep one of them'
        : null,
  },
  {
    keys: ['staticExport.signature.file', 'staticExport.signature.url'],
    broken: (values) =>
      valueAt(values, 'staticExport.signature.file') !== null && valueAt(values, 'staticExport.signature.url') !== null
        ? 'staticExport.signature.file and staticExport.signature.url are both set; keep one of them'
        : null,
  },
  {
    keys: ['staticExport.signature.required', 'staticExport.signature.file', 'staticExport.signature.url'],
    broken: (values) => {
      const [required, file, url] = ['required', 'file', 'url'].map((key) =>
        valueAt(values, `staticExport.signature.${key}`),
      );
      const isAskedFor = required === true || file !== null || url !== null;
      if (!isAskedFor || (valueAt(values, 'staticExport.signature.publicKeys') as unknown[]).length > 0) return null;
      return 'staticExport.signature has no key to verify with: set staticExport.signature.publicKeys';
    },
  },
  {
    keys: ['staticExport.renew.apiUrl', 'staticExport.renew.keyFile', ...RENEW_WISHES],
    broken: (values) => {
      const isSet = (key: string): boolean => valueAt(values, key) !== null;
      const [url, keyFile] = [isSet('staticExport.renew.apiUrl'), isSet('staticExport.renew.keyFile')];
      if (url === keyFile && (url || !RENEW_WISHES.some(isSet))) return null;
      return 'staticExport.renew needs both apiUrl and keyFile: the address of the export service, and the file with its admin key';
    },
  },
  {
    keys: ['staticExport.renew.apiUrl', 'deployment.type'],
    broken: (values) =>
      valueAt(values, 'staticExport.renew.apiUrl') !== null && valueAt(values, 'deployment.type') === 'air-gapped'
        ? 'staticExport.renew asks a service, and an air-gapped deployment has no outbound network; remove it'
        : null,
  },
  {
    keys: ['staticExport.renew.apiUrl', 'staticExport.renew.domain', 'staticExport.renew.jobId', 'deployment.domain'],
    broken: (values) => {
      const names = ['staticExport.renew.domain', 'staticExport.renew.jobId', 'deployment.domain'];
      if (valueAt(values, 'staticExport.renew.apiUrl') === null) return null;
      if (names.some((key) => valueAt(values, key) !== null)) return null;
      return 'staticExport.renew does not say whose bundle it renews: set staticExport.renew.domain, or staticExport.renew.jobId';
    },
  },
  // Every export is a new bundle: what asks for one bundle, and no other, cannot be met by it.
  againstEvery('staticExport.version', 'pins one version'),
  againstEvery('staticExport.sha256', 'asks for one bundle'),
  againstEvery('staticExport.renew.jobId', 'names one export'),
  portsApart('admin', 'server', () => true),
  portsApart('api', 'server', apiListens),
  portsApart('api', 'admin', apiListens),
  {
    keys: ['features.search.discoveryUrl', 'features.search.keyFile'],
    broken: (values) => {
      const [url, keyFile] = [
        valueAt(values, 'features.search.discoveryUrl'),
        valueAt(values, 'features.search.keyFile'),
      ];
      if ((url === null) === (keyFile === null)) return null;
      return 'features.search.discoveryUrl and features.search.keyFile go together: set both, or neither';
    },
  },
  {
    keys: ['search.keys', 'organizations'],
    broken: (values) =>
      (valueAt(values, 'search.keys') as unknown[]).length > 0 &&
      (valueAt(values, 'organizations') as unknown[]).length > 0
        ? 'search.keys are the keys of a daemon without organizations; give them to an organization, as keys of type assistant'
        : null,
  },
  {
    keys: ['exportApi.store.bucket', 'exportApi.store.kind'],
    broken: (values) =>
      valueAt(values, 'exportApi.store.kind') === 's3' && valueAt(values, 'exportApi.store.bucket') === null
        ? 'exportApi.store.kind is s3, which needs a bucket: set exportApi.store.bucket'
        : null,
  },
  {
    keys: ['exportApi.store.accessKeyId', 'exportApi.store.secretAccessKey'],
    broken: (values) => {
      const [id, key] = [
        valueAt(values, 'exportApi.store.accessKeyId'),
        valueAt(values, 'exportApi.store.secretAccessKey'),
      ];
      if ((id === null) === (key === null)) return null;
      return 'exportApi.store.accessKeyId and exportApi.store.secretAccessKey go together: set both, or neither';
    },
  },
  {
    keys: ['api.publicUrl', 'api.host', 'exportApi.enabled'],
    // Links must lead back here, and what a request's Host says is nothing to trust (contract, section 6).
    broken: (values) =>
      valueAt(values, 'exportApi.enabled') === true &&
      valueAt(values, 'exportApi.role') !== 'worker' &&
      valueAt(values, 'exportApi.store.kind') === 'disk' &&
      valueAt(values, 'api.publicUrl') === null &&
      !LOOPBACK.test(String(valueAt(values, 'api.host')))
        ? 'api.publicUrl is not set and api.host is no loopback address: links to bundles need to know how clients reach the API'
        : null,
  },
];

/** Contract, section 2: the API listener is open where search or the export API is on. */
function apiListens(values: KeyValues): boolean {
  return valueAt(values, 'search.enabled') === true || valueAt(values, 'exportApi.enabled') === true;
}

function againstEvery(key: string, does: string): Rule {
  return {
    keys: ['staticExport.renew.every', key],
    broken: (values) =>
      valueAt(values, 'staticExport.renew.every') !== null && valueAt(values, key) !== null
        ? `staticExport.renew.every has the site exported anew each time, and ${key} ${does}; keep one of them`
        : null,
  };
}

/** Two listeners that are open at once need two ports. */
function portsApart(one: string, other: string, areOpen: (values: KeyValues) => boolean): Rule {
  return {
    keys: [`${one}.port`, `${other}.port`, `${one}.host`, `${other}.host`],
    broken: (values) => {
      const port = valueAt(values, `${one}.port`);
      // Port 0 takes a free one each time.
      if (port !== valueAt(values, `${other}.port`) || port === 0 || !areOpen(values)) return null;
      const hosts = [valueAt(values, `${one}.host`), valueAt(values, `${other}.host`)];
      const overlap = hosts[0] === hosts[1] || hosts.some((host) => ANY_HOST.has(host));
      return overlap ? `${one}.port and ${other}.port are both ${port} on the same address; change one of them` : null;
    },
  };
}

/**
 * What no single key shows: faults between keys that are valid one by one.
 *
 * @param faulty pointers of the settings that have a fault of their own
 */
export function findBrokenRules(settings: Settings, values: KeyValues, faulty: ReadonlySet<string>): ConfigFault[] {
  const faults: ConfigFault[] = [];
  for (const { keys, broken } of RULES) {
    // A key that has a fault of its own stands here with its default, and says nothing.
    if (keys.some((key) => faulty.has(pointerOf(key.split('.'))))) continue;
    const message = broken(values);
    if (message === null) continue;
    const key = keys.find((candidate) => settings.get(candidate) !== undefined) ?? keys[0] ?? null;
    const where = key === null ? null : (settings.get(key)?.where ?? null);
    faults.push({ code: 'config_invalid', message, key, where });
  }
  return faults;
}
