import { getCACertificates } from 'node:tls';
import { Agent, type Dispatcher, EnvHttpProxyAgent, Pool, ProxyAgent } from 'undici';
import { DocshelfError } from '../domain/errors.ts';
import { readCertificates } from './certificates.ts';
import type { AddressGuard } from './guarded-address.ts';
import { guardedConnect } from './guarded-connect.ts';

export interface DispatcherSettings {
  readonly connectTimeoutMs: number;
  /** A transfer without one byte for this long has failed; so has a server that takes this long to begin its answer. */
  readonly idleTimeoutMs: number;
  /** `env`: what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say; `off`: none; else the proxy's URL. */
  readonly proxy: 'env' | 'off' | string;
  /** A PEM file of certificates that are trusted besides Node's own roots. */
  readonly caFile: string | null;
}

/**
 * The connections of the HTTP clients, guarded. HTTP/1.1 alone: its framing tells a whole body from a cut one, and one
 * download gains nothing from multiplexing. What goes through a proxy is connected by the proxy: see `admitBehindProxy`.
 *
 * @param connectionsMax to one origin at a time; null: as many as there are requests
 * @throws DocshelfError `config_invalid`, `cannot_read`.
 */
export function createDispatcher(
  settings: DispatcherSettings,
  guard: AddressGuard,
  connectionsMax: number | null = null,
): Dispatcher {
  const { caFile } = settings;
  const tls =
    caFile === null ? {} : { ca: [...getCACertificates('default'), readCertificates(caFile, 'network.caFile')] };
  const timeouts = { headersTimeout: settings.idleTimeoutMs, bodyTimeout: settings.idleTimeoutMs };
  const options = {
    ...timeouts,
    allowH2: false,
    connections: connectionsMax,
    connectTimeout: settings.connectTimeoutMs,
    connect: guardedConnect(guard, { ...tls, allowH2: false, timeout: settings.connectTimeoutMs }),
  };
  if (settings.proxy === 'off') return new Agent(options);
  const proxyOptions = {
    ...options,
    requestTls: tls,
    proxyTls: tls,
    // Without this, a proxy that never answers CONNECT would be waited for by undici's own 300 s.
    clientFactory: (origin: URL, own: object) => new Pool(origin, { ...own, ...timeouts }),
  };
  try {
    if (settings.proxy === 'env') return new EnvHttpProxyAgent(proxyOptions);
    return new ProxyAgent({ ...proxyOptions, uri: settings.proxy });
  } catch {
    // No cause: the error holds the proxy's URL, which may carry a password.
    throw new DocshelfError('config_invalid', 'Cannot use the proxy: its address is not a URL', {
      next: 'Write network.proxy (or HTTP_PROXY, HTTPS_PROXY) as http://host:port.',
    });
  }
}
