import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { LRUCache } from 'lru-cache';
import { Agent, buildConnector, Dispatcher, EnvHttpProxyAgent, Pool, ProxyAgent } from 'undici';
import { bareHost, type EgressRules, hostAndPort, portOf, urlHost } from '../domain/egress.ts';
import { DocshelfError } from '../domain/errors.ts';
import { authoritiesOf } from './certificates.ts';
import { AddressRefused, type EgressPolicy } from './egress.ts';
import { isIn, listOf } from './guarded-address.ts';

/**
 * Creates a dispatcher for HTTP/1.1 only, whose framing shows whether a body is complete.
 * @throws DocshelfError `config_invalid`, `cannot_read`
 */
export function createDispatcher(policy: EgressPolicy, connectionsMax: number | null = null): Dispatcher {
  const { rules: settings } = policy;
  const tls = authoritiesOf(settings.caFile, 'network.caFile');
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
    // Set the timeouts for the proxy too. By default, undici waits 300 s for a proxy that does not respond to CONNECT.
    clientFactory: (origin: URL, own: object) => new Pool(origin, { ...own, ...timeouts }),
  };
  try {
    // Reject SOCKS, because it is an experiment of undici, and fails with these options.
    if (settings.proxy === 'env' && PROXY_VARIABLES.some((name) => /^\s*socks/i.test(process.env[name] ?? '')))
      throw new Error('SOCKS');
    if (settings.proxy === 'env') return new EnvironmentProxy(new EnvHttpProxyAgent(proxyOptions), new Agent(options));
    return new ProxyAgent({ ...proxyOptions, uri: settings.proxy });
  } catch {
    // Omit the cause of the error, because it contains the URL of the proxy, which can include a password.
    throw new DocshelfError('config_invalid', 'Cannot use the proxy: its address is not an http or https URL', {
      next: 'Write network.proxy (or HTTP_PROXY, HTTPS_PROXY) as http://host:port.',
    });
  }
}

/** Supports networks in NO_PROXY, because undici supports only host names in that variable. */
class EnvironmentProxy extends Dispatcher {
  readonly #proxied: Dispatcher;
  readonly #direct: Dispatcher;
  readonly #unproxied = readNoProxy(process.env.no_proxy ?? process.env.NO_PROXY ?? '');

  constructor(proxied: Dispatcher, direct: Dispatcher) {
    super();
    this.#proxied = proxied;
    this.#direct = direct;
  }

  override dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean {
    const address = bareHost(new URL(options.origin ?? '').hostname);
    const { ipv4, ipv6 } = this.#unproxied;
    const family = isIP(address);
    const isDirect = family !== 0 && (isIn(ipv4, address) || (family === 6 && isIn(ipv6, address)));
    return (isDirect ? this.#direct : this.#proxied).dispatch(options, handler);
  }

  override async close(): Promise<void> {
    await Promise.all([this.#proxied.close(), this.#direct.close()]);
  }

  override async destroy(): Promise<void> {
    await Promise.all([this.#proxied.destroy(), this.#direct.destroy()]);
  }
}

const MAPPED = listOf(['::ffff:0:0/96']);

/** Reads addresses and networks of NO_PROXY. Ignores invalid entries, and accepts `10.1.2.3/8` for `10.0.0.0/8`, as curl and Go do. */
function readNoProxy(noProxy: string): { readonly ipv4: BlockList; readonly ipv6: BlockList } {
  const lists = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const entry of noProxy.split(/[\s,]+/)) {
    const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(entry.replace(/[[\]]/g, '')) ?? [];
    const family = isIP(address) === 4 ? 'ipv4' : 'ipv6';
    const bitsMax = family === 'ipv4' ? 32 : 128;
    const bits = Number(prefix ?? bitsMax);
    if (isIP(address) === 0 || bits > bitsMax) continue;
    const isMapped = family === 'ipv6' && bits >= 96 && isIn(MAPPED, address);
    lists[isMapped ? 'ipv4' : family].addSubnet(address, bits, family);
  }
  return lists;
}

const CONNECTORS_MAX = 256;

/** Checks the resolved addresses, and the address of the open socket, because a name can resolve to another address later. */
function guardedConnect(policy: EgressPolicy, options: buildConnector.BuildOptions): buildConnector.connector {
  // Use one connector per host and port, because the policy for `lookup` depends on the port, and TLS sessions belong to a host.
  const connectors = new LRUCache<string, buildConnector.connector>({ max: CONNECTORS_MAX });
  return (target, callback) => {
    // The policy expects IPv6 addresses in brackets, as in a URL.
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

export function usesProxy({ proxy }: EgressRules): boolean {
  return proxy === 'env' ? PROXY_VARIABLES.some((name) => process.env[name]) : proxy !== 'off';
}

/**
 * Checks a URL that a proxy will request. Unless private addresses are allowed, rejects an unlisted host name that only the proxy
 * can resolve.
 * @throws AddressRefused
 */
export async function admitBehindProxy(policy: EgressPolicy, url: URL): Promise<void> {
  if (!usesProxy(policy.rules)) return;
  const refusal = policy.refusalOf(url);
  if (refusal !== null) throw refusal;
  const host = bareHost(url.hostname);
  const port = portOf(url);
  const mayBeAny = policy.allowsPrivate && !policy.rules.ownPorts.includes(port);
  if (mayBeAny || isIP(host) !== 0) return;
  const addresses = await lookup(host, { all: true }).catch(() => null);
  if (addresses === null) {
    if (policy.allowsPrivate || policy.lists(url)) return;
    throw new AddressRefused(
      url.hostname,
      'cannot be resolved on this machine, and the proxy could connect to a private address',
    );
  }
  if (!addresses.every(({ address }) => policy.allowsAddress(address, url.hostname, port)))
    throw new AddressRefused(url.hostname);
}
