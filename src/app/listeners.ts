import type { Config } from '../config/index.ts';
import { dataPaths, openDaemonSocket } from '../deploy/index.ts';
import type { DocshelfError } from '../domain/errors.ts';
import { type AdminOptions, createAdminApp } from '../http/admin/app.ts';
import type { AuditTrail } from '../http/audit/audit.ts';
import type { RequestCounter } from '../http/limits/organization-rates.ts';
import { ClientBudget } from '../http/listener/client-budget.ts';
import { type ListenAddress, type Listener, type ListenerOptions, openListener } from '../http/listener/listener.ts';
import { accessLog, LISTENERS, type ListenerName, type ServedRequest } from '../http/listener/served-request.ts';
import type { Metrics } from '../http/metrics/metrics.ts';
import type { OwnNames } from '../http/openapi.ts';
import { redirectAnswer } from '../http/tls/tls-port.ts';
import { once } from '../threads/once.ts';
import { type OpenedRates, openRates, type RatesParts, type ServiceKeys } from './keys/service-keys.ts';
import { logFailure } from './log/log-events.ts';
import type { Exports } from './open-exports.ts';
import type { Traces } from './open-traces.ts';
import type { Sites } from './sites/sites.ts';
import { tlsSlice } from './tls.ts';

interface ListenerParts extends RatesParts {
  readonly sites: Sites;
  readonly admin: Omit<AdminOptions, 'endpoint' | 'trustedProxies' | 'metrics' | 'programVersion' | 'onError'>;
  readonly keys: ServiceKeys;
  readonly audit: AuditTrail;
  readonly exports: Promise<Exports> | null;
  /** True if a site had search when the daemon started. Otherwise, the API offers no search until the daemon restarts. */
  readonly apiHasSearch: boolean;
  readonly metrics: Metrics;
  readonly traces: Traces;
  readonly logRequest: (fields: () => string) => void;
  readonly programVersion: string;
}

export type Listeners = Awaited<ReturnType<typeof openListeners>>;

type Answers = Pick<ListenerOptions, 'fetch' | 'fastAnswer'>;

/** Opens all listeners, or none if one cannot open. @throws DocshelfError `port_taken`, `cannot_listen`. */
export async function openListeners(parts: ListenerParts) {
  const { config, sites, metrics, log, logRequest } = parts;
  const opened: Listener[] = [];
  const secure = new Map<ListenerName, Listener>();
  const redirects: Listener[] = [];
  const budget = new ClientBudget();
  const open = async (
    name: ListenerName,
    answers: Answers,
    at = addressOf(config[LISTENERS[name].section]),
  ): Promise<Listener> => {
    const onFault = (error: DocshelfError, requestId: string | null): void =>
      logFailure(log, 'listen', error, requestId);
    const tls = 'host' in at ? tlsSlice(config[LISTENERS[name].section].tls) : null;
    // Do not count connections of the daemon's socket toward the limits of network listeners, so that commands can always connect.
    const shared = 'host' in at ? { budget } : {};
    const listener = await openListener({
      name,
      ...at,
      ...answers,
      ...shared,
      onRequest,
      onFault,
      ...(tls && { tls }),
    });
    opened.push(listener);
    if (tls !== null) secure.set(name, listener);
    return listener;
  };
  const openRedirect = async (name: ListenerName, { port, isCertifiedFor }: Listener): Promise<void> => {
    const { section } = LISTENERS[name];
    const { host, tls } = config[section];
    if (tls.redirectPort === null) return;
    const publicUrl = (): string | null => (section === 'admin' ? null : parts.current()[section].publicUrl);
    const listener = await openListener({
      name,
      host,
      port: tls.redirectPort,
      portKey: `${section}.tls.redirectPort`,
      fetch: redirectAnswer({ port, publicUrl, isCertifiedFor }),
      budget,
      onRequest,
    });
    opened.push(listener);
    redirects.push(listener);
  };
  const fieldsOf = accessLog(config.server.trustedProxies);
  const onRequest = (served: ServedRequest): void => {
    metrics.onRequest(served);
    // Log no requests to the admin listener, because health probes and metrics scrapes would fill the access log.
    if (served.listener !== 'admin' && parts.current().log.access) logRequest(() => fieldsOf(served));
  };
  let rates: OpenedRates | null = null;
  const openedRates = once(async () => {
    rates = await openRates(parts);
    return rates.rates;
  });
  try {
    const commands = await openDaemonSocket(dataPaths(config.storage.dir), (socket) =>
      open('admin', { fetch: adminAnswer(parts, 'socket') }, { socket }),
    ).catch((error: unknown) => {
      // If the socket for commands fails, continue, because clients can still reach the daemon over the network.
      logFailure(log, 'listen', error);
      return null;
    });
    const site = await open('site', sites);
    const admin = await open('admin', { fetch: adminAnswer(parts, 'token') });
    const hasApi = parts.apiHasSearch || parts.exports !== null;
    const api = hasApi ? await open('api', { fetch: apiAnswer(parts, openedRates) }) : null;
    for (const [name, listener] of secure) await openRedirect(name, listener);
    const useConfig = (next: Config): void => {
      for (const [name, listener] of secure) {
        const tls = tlsSlice(next[LISTENERS[name].section].tls);
        if (tls !== null) listener.useTls(tls);
      }
    };
    return { site, admin, api, commands, redirects, useConfig, closeRates: () => rates?.close() };
  } catch (error) {
    for (const listener of opened) await listener.stop(0);
    throw error;
  }
}

const onError =
  ({ log }: ListenerParts, step: string) =>
  (error: unknown, requestId: string | null): void =>
    logFailure(log, step, error, requestId);

const addressOf = ({ host, port }: { readonly host: string; readonly port: number }): ListenAddress => ({ host, port });

function adminAnswer(parts: ListenerParts, endpoint: AdminOptions['endpoint']): ListenerOptions['fetch'] {
  const { metrics, programVersion } = parts;
  const { trustedProxies } = parts.config.server;
  const own = { endpoint, trustedProxies, metrics, programVersion };
  const admin = createAdminApp({ ...parts.admin, ...own, onError: onError(parts, 'admin') });
  return (request, env) => admin.fetch(request, env);
}

function apiAnswer(parts: ListenerParts, rates: () => Promise<RequestCounter>): ListenerOptions['fetch'] {
  const { metrics, programVersion, sites, current, keys } = parts;
  const app = once(async () => {
    const { createApiApp } = await import('../http/api/api.ts');
    const exports = await parts.exports;
    return createApiApp({
      access: () => keys.access,
      onKeyUse: (sha256) => keys.noteUse(sha256),
      ...(parts.apiHasSearch ? { search: (domain) => sites.find(domain)?.search ?? null } : {}),
      ...(exports?.service ? { exports: exports.service } : {}),
      ...(exports?.download ? { download: exports.download } : {}),
      rates: await rates(),
      audit: parts.audit,
      tracer: parts.traces.tracer,
      programVersion,
      publicUrl: () => current().api.publicUrl,
      ownSite: () => openSite(sites),
      metrics,
      onError: onError(parts, 'api'),
    });
  });
  return async (request, env) => (await app()).fetch(request, env);
}

function openSite({ all, names }: Sites): OwnNames | null {
  const found = all.find(({ config }) => config.config.server.auth.kind === 'none');
  if (found === undefined) return null;
  return { domain: found.domain, host: names.find(({ domain }) => domain === found.domain)?.hosts[0] ?? null };
}
