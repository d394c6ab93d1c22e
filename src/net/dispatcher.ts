import dns, { type LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { getCACertificates } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool, ProxyAgent } from 'undici';
import { DocshelfError } from '../domain/errors.ts';
import { readCertificates } from './certificates.ts';
import type { AddressGuard } from './guarded-address.ts';

export interface DispatcherSettings {
  readonly connectTimeoutMs: number;
  /** Bound on silence, before the answer and within it. */
  readonly idleTimeoutMs: number;
  /** `env`: what HTTP_PROXY, HTTPS_PROXY and NO_PROXY say; `off`: none; else the proxy's URL. */
  readonly proxy: 'env' | 'off' | string;
  /** A PEM file of certificates that are trusted besides Node's own roots. */
  readonly caFile: string | null;
}

/**
 * Guarded connections; HTTP/1.1 alone, whose framing tells a whole body from a cut one. A proxy's: `admitBehindProxy`.
 * @param connectionsMax to one origin; null: unbounded @throws DocshelfError `config_invalid`, `cannot_read`
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

/** A connection that the guard does not let through. The message names the host, and no address of the inside. */
class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';

  constructor(host: string) {
    super(`the address of "${host}" is not one that may be asked`);
  }
}

/** Checks what was looked up, and the socket's own address: a name that answers differently next time gains nothing. */
function guardedConnect(guard: AddressGuard, options: buildConnector.BuildOptions): buildConnector.connector {
  const connect = buildConnector({ ...options, lookup: guardedLookup(guard) });
  return (target, callback) => {
    const refusal = refusalOfHost(guard, target.hostname);
    if (refusal !== null) {
      callback(refusal, null);
      return;
    }
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (guard.allows(socket.remoteAddress ?? '')) return callback(null, socket);
      socket.destroy();
      return callback(new AddressRefused(target.hostname), null);
    });
  };
}

function refusalOfHost(guard: AddressGuard, host: string): AddressRefused | null {
  const bare = host.replace(/^\[|\]$/g, '');
  const isRefused = guard.isMetadataHost(bare) || (isIP(bare) !== 0 && !guard.allows(bare));
  return isRefused ? new AddressRefused(host) : null;
}

export function guardedLookup(guard: AddressGuard): LookupFunction {
  return (hostname, options, callback) => {
    dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
      if (error !== null) return callback(error, []);
      const allowed = addresses.filter(({ address }) => guard.allows(address));
      const [first] = allowed;
      if (first === undefined) return callback(new AddressRefused(hostname), []);
      return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family);
    });
  };
}

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/**
 * Checks a target before a proxy connects, by the addresses that it has here; the proxy may resolve others.
 * Private addresses allowed: nothing is looked up, as name services behind a proxy may be slow to know nothing.
 * @throws AddressRefused
 */
export async function admitBehindProxy(guard: AddressGuard, url: URL, proxy: string): Promise<void> {
  if (proxy === 'off' || (proxy === 'env' && !PROXY_VARIABLES.some((name) => process.env[name]))) return;
  const refusal = refusalOfHost(guard, url.hostname);
  if (refusal !== null) throw refusal;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (guard.allowsPrivate || isIP(host) !== 0) return;
  const addresses = await lookup(host, { all: true }).catch((): LookupAddress[] => []);
  if (addresses.some(({ address }) => !guard.allows(address))) throw new AddressRefused(url.hostname);
}
