import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { getCACertificates } from 'node:tls';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, type Dispatcher, EnvHttpProxyAgent, Pool, ProxyAgent } from 'undici';
import { bareHost, hostAndPort, portOf, urlHost } from '../domain/egress.ts';
import { DocshelfError } from '../domain/errors.ts';
import { readCertificates } from './certificates.ts';
import { AddressRefused, type EgressPolicy } from './egress.ts';

/**
 * Guarded connections; HTTP/1.1 alone, whose framing tells a whole body from a cut one. A proxy's: `admitBehindProxy`.
 * @param connectionsMax to one origin; null: unbounded @throws DocshelfError `config_invalid`, `cannot_read`
 */
export function createDispatcher(policy: EgressPolicy, connectionsMax: number | null = null): Dispatcher {
  const { rules: settings } = policy;
  const { caFile } = settings;
  const tls =
    caFile === null ? {} : { ca: [...getCACertificates('default'), readCertificates(caFile, 'network.caFile')] };
  const timeouts = { headersTimeout: settings.idleTimeoutMs, bodyTimeout: settings.idleTimeoutMs };
  const options = {
    ...timeouts,
    allowH2: false,
    connections: connectionsMax,
    connectTimeout: settings.connectTimeoutMs,
    connect: guardedConnect(policy, { ...tls, allowH2: false, timeout: settings.connectTimeoutMs }),
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

/** Ports of hosts that a crawl has lately connected to. */
const CONNECTORS_MAX = 256;

/** Checks what was looked up, and the socket's own address: a name that answers differently next time gains nothing. */
function guardedConnect(policy: EgressPolicy, options: buildConnector.BuildOptions): buildConnector.connector {
  // One each: a lookup is told no port, and a connector keeps the TLS sessions of its host.
  const connectors = new LRUCache<string, buildConnector.connector>({ max: CONNECTORS_MAX });
  return (target, callback) => {
    // Without its brackets here, which the policy's names have as a URL does.
    const hostname = urlHost(target.hostname);
    const endpoint = { ...target, hostname };
    const refusal = policy.refusalOf(endpoint);
    if (refusal !== null) return callback(refusal, null);
    const name = hostAndPort(endpoint);
    const port = portOf(endpoint);
    const connect = connectors.get(name) ?? buildConnector({ ...options, lookup: policy.lookupFor(hostname, port) });
    connectors.set(name, connect);
    connect(target, (error, socket) => {
      if (error !== null) return callback(error, null);
      if (policy.allowsAddress(socket.remoteAddress ?? '', hostname, port)) return callback(null, socket);
      socket.destroy();
      return callback(new AddressRefused(hostname), null);
    });
  };
}

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/**
 * Checks a target before a proxy connects, by the addresses that it has here; the proxy may resolve others, so that a name
 * without any must be listed. Where any address will do nothing is looked up: name services behind a proxy may be slow.
 * @throws AddressRefused
 */
export async function admitBehindProxy(policy: EgressPolicy, url: URL): Promise<void> {
  const { proxy } = policy.rules;
  if (proxy === 'off' || (proxy === 'env' && !PROXY_VARIABLES.some((name) => process.env[name]))) return;
  const refusal = policy.refusalOf(url);
  if (refusal !== null) throw refusal;
  const host = bareHost(url.hostname);
  const port = portOf(url);
  const mayBeAny = policy.allowsPrivate && !policy.rules.ownPorts.includes(port);
  if (mayBeAny || isIP(host) !== 0) return;
  const addresses = await lookup(host, { all: true }).catch(() => null);
  if (addresses === null) {
    if (policy.allowsPrivate || policy.lists(url)) return;
    throw new AddressRefused(url.hostname, 'is not known here, and a proxy could lead to any');
  }
  if (!addresses.every(({ address }) => policy.allowsAddress(address, url.hostname, port))) {
    throw new AddressRefused(url.hostname);
  }
}
