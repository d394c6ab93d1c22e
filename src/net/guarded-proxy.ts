import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { AddressGuard } from './guarded-address.ts';
import { AddressRefused, refusalOfHost } from './guarded-connect.ts';

const PROXY_VARIABLES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY'];

/**
 * Looks at a target that may be asked through a proxy, where the connection is not ours to guard: what its host says itself,
 * and the addresses that its name has here. Not guaranteed: the proxy may look the name up elsewhere and be told otherwise,
 * and a name that is not known here is left to the proxy. Where private addresses are allowed nothing is looked up: behind
 * a proxy, name services may take long to say that they know nothing.
 *
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
