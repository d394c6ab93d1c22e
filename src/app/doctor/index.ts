import { createServer } from 'node:net';
import type { Config, LoadedConfig } from '../../config/index.ts';
import { dataPaths, runningDaemons, SiteStore } from '../../deploy/index.ts';
import { errnoOf } from '../../domain/errors.ts';
import type { SiteReport, StatusReport } from '../../domain/status.ts';
import { askDaemon } from '../../net/daemon-request.ts';
import { listedDomain, readStore } from '../slices.ts';
import {
  checkBundle,
  checkCertificates,
  checkDataFolder,
  checkExportSources,
  checkJobs,
  checkKeys,
  checkNamedFiles,
  checkPreload,
  checkSpace,
} from './check-files.ts';
import { type CheckedConfig, checkNetwork } from './check-network.ts';
import { about, type Diagnosis } from './diagnosis.ts';

const TOTAL_MS_MAX = 30_000;

/** Runs all checks of `docshelf doctor`, which change nothing on disk except for a probe file that docshelf removes again. */
export async function diagnose(loaded: LoadedConfig): Promise<readonly Diagnosis[]> {
  const { config, sites } = loaded;
  const signal = AbortSignal.timeout(TOTAL_MS_MAX);
  const ofDaemon = await openStore({ domain: null, config });
  const each = await Promise.all(sites.map((site) => openStore({ ...site, domain: listedDomain(site.config) })));
  const named = await checkNamedFiles(loaded);
  const isNew = ({ subject, message }: Diagnosis): boolean =>
    !named.some((known) => known.subject === subject && known.message === message);
  const ofSite = async ({ domain, config: own, store }: CheckedConfig): Promise<Diagnosis[]> => {
    const files = (await checkNamedFiles({ ...loaded, config: own })).filter(isNew);
    const found = [await checkPreload(own), ...(await checkBundle(own, store)), ...files];
    return domain === null ? found : found.map((each) => ({ ...each, subject: `${domain}: ${each.subject}` }));
  };
  const found = await Promise.all([
    checkDataFolder(config),
    checkSpace(config, ofDaemon.store),
    checkKeys(config),
    checkJobs(config),
    checkExportSources(config),
    Promise.all(each.map(ofSite)).then((lists) => lists.flat()),
    named,
    checkCertificates(config, Date.now()),
    checkDaemon(config, signal),
    checkNetwork(config.sites.length > 0 ? [ofDaemon, ...each] : each, signal),
  ]);
  return found.flat();
}

async function openStore({ domain, config }: Omit<CheckedConfig, 'store'>): Promise<CheckedConfig> {
  const unread = (): SiteStore => new SiteStore(dataPaths(config.storage.dir), domain);
  return { domain, config, store: await readStore(config).catch(unread) };
}

const ANSWER_MS_MAX = 3_000;

async function checkDaemon(config: Config, signal: AbortSignal): Promise<Diagnosis[]> {
  const daemons = await runningDaemons(dataPaths(config.storage.dir)).catch(() => []);
  const daemon = daemons[0];
  if (daemon === undefined) return checkPorts(config);
  const { sound, warning, faulty } = about('daemon', 'the running daemon');
  const url = daemon.adminUrl;
  const status = url === null ? null : await statusOf(url, signal);
  if (status === null) {
    const message = `Cannot reach the daemon at ${url}: it does not respond`;
    const next = 'Check the log of the daemon. If the daemon hangs, stop it and start it again.';
    return [faulty({ code: 'daemon_unreachable', message, next })];
  }
  const { sites, pending, programVersion } = status;
  const found = [
    sound(`The daemon is docshelf ${programVersion}, with process id ${daemon.owner.pid}.`),
    ...(sites?.flatMap((site) => stateOf(site, `${site.deployment.domain}: `)) ?? stateOf(status, '')),
  ];
  if (pending.length > 0) {
    const state = `The daemon does not use the new values of these settings yet: ${pending.join(', ')}.`;
    found.push(warning(state, 'Restart the daemon to use the new values.'));
  }
  return found;
}

function stateOf({ state, active, lastError }: SiteReport, prefix: string): Diagnosis[] {
  const { sound, warning } = about('daemon', `${prefix}the running daemon`);
  const serving = active === null ? 'serves no version' : `serves version ${active.version}`;
  const message = `The site is ${state}. The daemon ${serving}.`;
  const found = [state === 'ready' || state === 'off' ? sound(message) : warning(message, NEXT_OF_STATE)];
  if (lastError !== null) {
    const { code, message: error, next } = lastError;
    found.push({ check: 'daemon', subject: `${prefix}the last error`, state: 'warning', message: error, next, code });
  }
  return found;
}

const NEXT_OF_STATE =
  'Read the last error of the site for the reason. To list the stored versions, run "docshelf bundle list".';

async function statusOf(adminUrl: string, signal: AbortSignal): Promise<StatusReport | null> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS_MAX)]);
  const response = await askDaemon(new URL('/v1/status', adminUrl), bounded);
  return response?.ok === true ? ((await response.json()) as StatusReport) : null;
}

async function checkPorts({ server, admin, api, search, exportApi }: Config): Promise<Diagnosis[]> {
  const needsApi = search.enabled || (exportApi.enabled && exportApi.role !== 'worker');
  const listeners = { server, admin, ...(needsApi ? { api } : {}) };
  return Promise.all(
    Object.entries(listeners).map(async ([name, { host, port }]) => {
      const { sound, faulty } = about('port', `${name}.port`);
      const errno = await tryToListen(host, port);
      if (errno === null) return sound(`${host}:${port} is free, and no daemon runs.`);
      const isTaken = errno === 'EADDRINUSE';
      const message = `Cannot listen on ${host}:${port}: ${isTaken ? 'another program, or a daemon with another data folder, uses this port' : errno}`;
      const next = `${isTaken ? 'Stop that program, or set' : 'Set'} ${name}.port and ${name}.host to a free port and an address of this machine.`;
      return faulty({ code: isTaken ? 'port_taken' : 'cannot_listen', message, next });
    }),
  );
}

function tryToListen(host: string, port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error) => resolve(errnoOf(error) ?? 'failed'));
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)));
  });
}
