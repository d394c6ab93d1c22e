import { isIP } from 'node:net';
import type { Config } from '../../config/index.ts';
import type { SiteStore } from '../../deploy/index.ts';
import { askedUrl, expiryOfLink } from '../../domain/bundle-link.ts';
import { bareHost } from '../../domain/egress.ts';
import { DocshelfError, errnoOf, toDocshelfError } from '../../domain/errors.ts';
import { linkWithoutSecrets, type Secret } from '../../domain/secret.ts';
import { membersOf } from '../../domain/shape.ts';
import { counted } from '../../domain/text.ts';
import { collect } from '../../files/index.ts';
import { unlessAborted } from '../../files/lanes.ts';
import { usesProxy } from '../../net/dispatcher.ts';
import { EgressPolicy } from '../../net/egress.ts';
import { ExchangeWatch } from '../../net/exchange-watch.ts';
import { HttpClient } from '../../net/http-client.ts';
import { connectDatabase, Network } from '../network.ts';
import { openSources } from '../sites/open-shelf.ts';
import { bundleLink, egressSlice, featureReport, organizationsSlice, s3Slice } from '../slices.ts';
import { about, certificateState, type Diagnosis } from './diagnosis.ts';

const STEP_MS_MAX = 10_000;
/** Remaining validity of a link below which `docshelf doctor` warns, because the link can expire during a rollout. */
const LINK_SOON_MS = 10 * 60_000;
/** Clock difference above which `docshelf doctor` warns. S3 rejects presigned links at a difference of 15 minutes. */
const SKEW_MS_MAX = 30_000;

const DOCUMENT_BYTES_MAX = 1024 ** 2;

export type CheckedConfig = { readonly domain: string | null; readonly config: Config; readonly store: SiteStore };

/**
 * Checks the configured links and servers. In an air-gapped deployment, contacts only `network.allowedHosts`.
 * @param checked config of all sites first, then the config of each site
 */
export async function checkNetwork(checked: readonly CheckedConfig[], signal: AbortSignal): Promise<Diagnosis[]> {
  const shared = new Set<string>();
  const checks: (() => Promise<Diagnosis[]>)[] = [];
  for (const { domain, config, store } of checked) {
    // If the pinned version is stored, skip its link, because docshelf serves that version without the link.
    const { version } = config.staticExport;
    const pinned = version === null ? null : await store.label(version).catch(() => null);
    for (const target of networkTargets(config)) {
      const key = `${target.setting} ${revealed(target)}`;
      if (shared.has(key)) continue;
      if (domain === null) shared.add(key);
      const setting = domain === null ? target.setting : `${domain}: ${target.setting}`;
      checks.push(() => checkTarget({ ...target, setting }, config, pinned === null, signal));
    }
  }
  const first = checked[0];
  if (first !== undefined) checks.push(() => checkStores(first.config, signal));
  using watch = new ExchangeWatch();
  const found = (await Promise.all(checks.map((check) => check()))).flat();
  found.push(...observed(watch));
  const { skipped } = about('reach', 'the network');
  return found.length > 0 ? found : [skipped('The config contains no host that docshelf would contact.', null)];
}

const revealed = ({ link }: NetworkTarget): string => (typeof link === 'string' ? link : link.reveal());

async function checkTarget(target: NetworkTarget, config: Config, needsLink: boolean, signal: AbortSignal) {
  const { setting, kind } = target;
  const { sound, skipped, faulty } = about('reach', setting);
  const link = revealed(target);
  const shown = linkWithoutSecrets(link);
  const isNeeded = needsLink || kind !== 'bundle';
  const found = kind === 'bundle' ? checkExpiry(setting, link, shown, isNeeded) : [];
  const isDead = found.some(({ code }) => code === 'link_expired');
  const { s3 } = config.network;
  // Use the region from the environment if the config has no region, as the AWS SDK does.
  const url = askedUrl(link, { ...s3, region: s3.region ?? process.env.AWS_REGION ?? null });
  try {
    const name = url === null ? null : await checkName(url, target, signal);
    if (name !== null) found.push(name);
    if (name?.state === 'fault') return found;
    const startMs = performance.now();
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(STEP_MS_MAX)]);
    const client = new HttpClient(target.policy, config.network);
    try {
      if (kind === 'bundle' && !isDead) await openBundle(client, target, config, bounded);
      else if (kind === 'issuer') await checkIssuer(client, link, bounded);
      else await callService(client, link, bounded);
    } finally {
      await client.close();
    }
    const afterMs = Math.round(performance.now() - startMs);
    found.push(sound(`"${shown}" responds after ${afterMs} ms.`));
  } catch (cause) {
    const { code, fields } = toDocshelfError(cause);
    if (config.deployment.type === 'air-gapped' && code === 'host_not_allowed') {
      const state = `"${shown}" was not contacted: this deployment is air-gapped, and network.allowedHosts does not name its host.`;
      const next = `If the host "${fields.host}" is in your own network, add it to network.allowedHosts.`;
      found.push(skipped(state, next));
    } else {
      const diagnosis = faulty(unreachable(cause, shown));
      found.push(isNeeded ? diagnosis : { ...diagnosis, state: 'warning' });
    }
  }
  return found;
}

function checkExpiry(setting: string, link: string, shown: string, isNeeded: boolean): Diagnosis[] {
  const endsAtMs = expiryOfLink(link);
  if (endsAtMs === null) return [];
  const { sound, warning, faulty } = about('link', setting);
  const end = new Date(endsAtMs).toISOString();
  const leftMs = endsAtMs - Date.now();
  const next =
    'Generate a new link, for example with "docshelf export bundle JOB", and set it as staticExport.bundleUrl.';
  if (leftMs <= 0) {
    const message = `Cannot fetch "${shown}": the link has expired at ${end}`;
    const expired = faulty({ code: 'link_expired', message, next });
    return [isNeeded ? expired : { ...expired, state: 'warning' }];
  }
  const minutes = Math.floor(leftMs / 60_000);
  const state = `The link to "${shown}" expires at ${end}, in ${counted(minutes, 'minute')}.`;
  return [leftMs < LINK_SOON_MS ? warning(state, next) : sound(state)];
}

/** Looks up the host name. Returns null for an IP address, or if a proxy looks up names. @throws DocshelfError `host_not_allowed` */
async function checkName(url: URL, { setting, policy }: NetworkTarget, signal: AbortSignal) {
  const host = bareHost(url.hostname);
  if (isIP(host) !== 0 || usesProxy(policy.rules)) return null;
  const { sound, faulty } = about('name', setting);
  try {
    const found = await unlessAborted(
      policy.addressesOf(url),
      AbortSignal.any([signal, AbortSignal.timeout(STEP_MS_MAX)]),
    );
    return sound(`${host} is ${found.join(', ')}.`);
  } catch (cause) {
    if (cause instanceof DocshelfError) throw cause;
    const state = errnoOf(cause) ?? 'DNS does not respond in time';
    const message = `Cannot look up "${host}": ${state}`;
    const next = 'Check the host name, and the DNS servers of this machine (/etc/resolv.conf).';
    return faulty({ code: 'source_unreachable', message, next });
  }
}

async function openBundle(client: HttpClient, { link }: NetworkTarget, config: Config, signal: AbortSignal) {
  const sources = await openSources(config, client, [config.staticExport.preload.dir]);
  const source = sources.find(({ links }) => links.test((link as Secret).reveal()));
  const opened = await source?.open(link as Secret, { resume: null, signal });
  opened?.close();
}

async function callService(client: HttpClient, link: string, signal: AbortSignal): Promise<void> {
  const response = await client.get(link, { signal, redirects: 'answer' });
  response.close();
  if (response.status < 500) return;
  const shown = linkWithoutSecrets(link);
  throw new DocshelfError('source_failed', `Cannot use "${shown}": it responds with ${response.status}`, {
    next: 'Check the server, and any proxy between the server and docshelf.',
  });
}

/**
 * Checks that the OpenID Connect discovery document contains `issuer` (OpenID Connect Discovery 1.0, section 4).
 * @throws DocshelfError `source_failed`
 */
async function checkIssuer(client: HttpClient, issuer: string, signal: AbortSignal): Promise<void> {
  const fault = (state: string): DocshelfError =>
    new DocshelfError('source_failed', `Cannot sign readers in with "${issuer}": ${state}`, {
      next: 'Set server.auth.issuer to the exact value of "issuer" in the discovery document of the provider.',
    });
  const link = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const response = await client.get(link, { signal, redirects: 'answer' });
  if (response.status !== 200) {
    response.close();
    throw fault(`the request for its discovery document returned ${response.status}`);
  }
  const named = issuerIn(await collect(response.stream(), DOCUMENT_BYTES_MAX));
  if (named === null) throw fault('its discovery document names no issuer');
  if (new URL(named).href !== new URL(issuer).href) throw fault(`its discovery document names the issuer "${named}"`);
}

function issuerIn(document: Buffer | null): string | null {
  const { issuer } = membersOf<{ issuer: unknown }>(String(document));
  return typeof issuer === 'string' && URL.canParse(issuer) ? issuer : null;
}

function unreachable(cause: unknown, shown: string): DocshelfError {
  if (cause instanceof DocshelfError) return cause;
  const isTimeout = cause instanceof DOMException && cause.name === 'TimeoutError';
  if (!isTimeout) return toDocshelfError(cause);
  return new DocshelfError('source_timeout', `Cannot reach "${shown}": no response within ${STEP_MS_MAX / 1000} s`, {
    next: 'Check the network between this machine and the server, and network.proxy.',
  });
}

function observed(watch: ExchangeWatch): Diagnosis[] {
  return [...watch.facts].flatMap(([origin, { aheadMs, certificateEndsAtMs }]) => {
    const found: Diagnosis[] = [];
    if (certificateEndsAtMs !== null)
      found.push(certificateState(origin, `The server at ${origin}`, certificateEndsAtMs, Date.now()));
    if (aheadMs !== null) found.push(clockState(origin, aheadMs));
    return found;
  });
}

function clockState(origin: string, aheadMs: number): Diagnosis {
  const { sound, warning } = about('clock', origin);
  const seconds = Math.round(Math.abs(aheadMs) / 1000);
  if (Math.abs(aheadMs) <= SKEW_MS_MAX)
    return sound(`The clock of ${origin} differs from the clock of this machine by at most ${seconds} s.`);
  const state = `The clock of this machine is ${seconds} s ${aheadMs > 0 ? 'behind' : 'ahead of'} the clock of ${origin}.`;
  const next =
    'Synchronize the clock of this machine with NTP. docshelf needs the correct time to check links and certificates.';
  return warning(state, next);
}

interface NetworkTarget {
  readonly setting: string;
  readonly link: Secret | string;
  readonly kind: 'bundle' | 'issuer' | 'service';
  readonly policy: EgressPolicy;
}

function networkTargets(config: Config): NetworkTarget[] {
  const { staticExport, features, search, exportApi, deployment, server, traces, admin, api } = config;
  const ownPorts = [server, admin, api].map(({ port }) => port);
  const policy = new EgressPolicy(egressSlice(config, ownPorts));
  const targets: NetworkTarget[] = [];
  const add = (setting: string, link: Secret | string | null, kind: NetworkTarget['kind'] = 'service'): void => {
    if (link !== null) targets.push({ setting, link, kind, policy });
  };
  if (staticExport.enabled) {
    add('staticExport.bundleUrl', bundleLink(config), 'bundle');
    add('staticExport.signature.url', staticExport.signature.url, 'bundle');
    add('staticExport.renew.apiUrl', staticExport.renew.apiUrl);
  }
  if (server.auth.kind === 'oidc') add('server.auth.issuer', server.auth.issuer, 'issuer');
  const report = featureReport(config, deployment.domain ?? '');
  const isHosted = report.features.some(({ id, enabled }) => id === 'search' && enabled);
  if (isHosted) add('features.search.discoveryUrl', features.search.discoveryUrl);
  if (search.enabled && typeof search.model === 'object') add('search.model', search.model.url);
  add('traces.endpoint', traces.endpoint);
  if (exportApi.enabled) targets.push(...crawlTargets(config, policy));
  return targets;
}

/** Checks PostgreSQL and the bucket of exports with the configured credentials. Does not change their data. */
async function checkStores(config: Config, signal: AbortSignal): Promise<Diagnosis[]> {
  const network = new Network(() => config);
  const check = async (subject: string, state: string, store: CheckedStore): Promise<Diagnosis> => {
    const { sound, faulty } = about('reach', subject);
    try {
      await unlessAborted(store.check(), AbortSignal.any([signal, AbortSignal.timeout(STEP_MS_MAX)]));
      return sound(state);
    } catch (cause) {
      return faulty(unreachable(cause, subject));
    } finally {
      await store.close();
    }
  };
  const checks: Promise<Diagnosis>[] = [];
  const database = await connectDatabase(config, network);
  if (database !== null) {
    const store = { check: () => database.checkSchema(), close: () => database.close() };
    checks.push(check('database.urlFile', 'PostgreSQL responds.', store));
  }
  const settings = s3Slice(config);
  if (config.exportApi.enabled && settings !== null) {
    const { S3BundleStore } = await import('../../export/stores/s3-bundle-store.ts');
    const { caFile, ...bucket } = settings;
    const policy = (await network.policy()).forStore(() => caFile);
    const store = new S3BundleStore({ ...bucket, policy, nowMs: Date.now });
    checks.push(check('exportApi.store', `Bucket "${settings.bucket}" responds.`, store));
  }
  return Promise.all(checks);
}

type CheckedStore = { check(): Promise<void>; close(): Promise<void> };

function crawlTargets(config: Config, policy: EgressPolicy): NetworkTarget[] {
  return organizationsSlice(config)
    .flatMap(({ sites }) => sites)
    .flatMap(({ domain, source }) => {
      if (source?.kind !== 'crawl') return [];
      const { url, allowAddresses } = source;
      const own = policy.forCrawl({ allowAddresses, ownOrigins: [url] });
      return [{ setting: `the source of ${domain}`, link: url, kind: 'service', policy: own }];
    });
}
