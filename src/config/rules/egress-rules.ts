import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { askedUrl } from '../../domain/bundle-link.ts';
import { parseDatabaseUrl } from '../../domain/database-address.ts';
import { type HostRules, hostRulesOf, namesHost, s3UrlOf, urlHost } from '../../domain/egress.ts';
import { Secret } from '../../domain/secret.ts';
import { fits } from '../formats.ts';
import type { Config } from '../schema/index.ts';
import { type Rule, rule } from './rule.ts';

type Link = Secret | string | null;

interface Named {
  readonly key: string;
  /** Null where nothing is asked by it. */
  readonly link: (config: Config) => Link;
  /** Where a user and password of the link belong; null: there. */
  readonly secrets: string | null;
}

const KEY_FILE = (section: string): string => `${section}.keyFile`;
const LINK_FILE = 'staticExport.bundleUrlFile, which a Secret may mount';

/** Every key that names a host which docshelf asks, crawls aside. */
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
    secrets: 'a header of your server: staticExport.signature.file reads the signature from a file',
  },
  {
    key: 'staticExport.renew.apiUrl',
    // Behind an air gap it is a fault of its own.
    link: ({ staticExport: { enabled, renew }, deployment }) =>
      enabled && deployment.type !== 'air-gapped' ? renew.apiUrl : null,
    secrets: KEY_FILE('staticExport.renew'),
  },
  {
    key: 'features.search.discoveryUrl',
    // Behind an air gap it is overruled, and the feature report says so (contract, section 4).
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
      // The environment names the region: the gate judges what it leads to.
      if (!enabled || kind !== 's3' || bucket === null || (region ?? endpoint) === null) return null;
      return s3UrlOf({ ...store, bucket });
    },
    secrets: 'exportApi.store.accessKeyId and secretAccessKey',
  },
  {
    key: 'traces.endpoint',
    link: ({ traces }) => traces.endpoint,
    secrets: 'traces.headersFile',
  },
  {
    key: 'database.urlFile',
    link: ({ database: { urlFile } }) => databaseHost(urlFile?.text.reveal() ?? ''),
    secrets: null,
  },
];

/** As a link, which rules are about; null for a Unix socket. */
function databaseHost(url: string): string | null {
  const address = parseDatabaseUrl(url);
  return address === null || address.host.startsWith('/') ? null : `http://${urlHost(address.host)}:${address.port}`;
}

const textOf = (link: Link): string | null => (link instanceof Secret ? link.reveal() : link);

export const hostRules = ({ deployment, network }: Config): HostRules =>
  hostRulesOf(deployment.type === 'air-gapped', network.allowedHosts);

/** What the config names and the gate would not let through, told before anything is asked. */
export function forbiddenHost(config: Config, link: Link): string | null {
  const url = askedUrl(textOf(link), config.network.s3);
  if (url === null || namesHost(hostRules(config), url)) return null;
  const gap = config.deployment.type === 'air-gapped' ? ', and an air-gapped deployment asks no other' : '';
  return `leads to a host that network.allowedHosts does not name${gap}; add it there, or remove the link`;
}

/** A pair of a crawl opens its host's private addresses, and no more hosts than the gate does. */
export function forbiddenPair(config: Config, pair: string): string | null {
  const url = URL.parse(`http://${pair}`);
  if (fits(pair, { format: 'cidr' }) || url === null || namesHost(hostRules(config), url)) return null;
  return `is a pair whose host network.allowedHosts does not name; add "${pair}" there, or remove it here`;
}

/** A password in a link is in every listing of the config. */
export function userInLink(link: Link, secrets: string): string | null {
  const url = askedUrl(textOf(link), null);
  if (url === null || (url.username === '' && url.password === '')) return null;
  return `has a user or a password in its link; they belong into ${secrets}`;
}

/** `file:` links lead below `network.fileRoots`, else the preload folders of the site and of the daemon. */
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
    `${key} leads to a file outside of network.fileRoots; add its folder there, or put the archive into the preload folder`,
  );
}

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path);
  return way !== '' && !/^\.\.(?:\/|$)/.test(way);
}

export const EGRESS_RULES: readonly Rule[] = [
  ...NAMED.flatMap(({ key, link, secrets }): Rule[] => {
    const keys = key === 'exportApi.store.endpoint' ? [key, 'exportApi.store.bucket'] : [key];
    const told = (sentence: string | null): string | null => (sentence === null ? null : `${key} ${sentence}`);
    return [
      { keys, broken: (config) => told(forbiddenHost(config, link(config))) },
      ...(secrets === null ? [] : [{ keys, broken: (config: Config) => told(userInLink(link(config), secrets)) }]),
    ];
  }),
  {
    // Links to buckets are judged with it, by the host that it makes of them.
    keys: ['network.s3.endpoint'],
    broken: ({ network: { s3 } }) => {
      const sentence = userInLink(s3.endpoint, 'the environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY');
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
