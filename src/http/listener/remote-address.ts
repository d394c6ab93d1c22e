import { BlockList, isIP } from 'node:net';

/** Finds out who asks, behind the proxies that are trusted. */
export type RemoteAddress = (peer: string, forwardedFor: string | undefined) => string;

/**
 * `X-Forwarded-For` is believed only from trusted proxies, and read from its end: each proxy appends the address that it
 * saw, so the last one that is no trusted proxy is the client's; what stands before it, the client may have made up.
 *
 * @param trustedProxies addresses and networks in CIDR notation
 */
export function remoteAddressBehind(trustedProxies: readonly string[]): RemoteAddress {
  const trusted = new BlockList();
  for (const network of trustedProxies) addNetwork(trusted, network);
  const isTrusted = (address: string): boolean => trusted.check(address, familyOf(address));

  return (peer, forwardedFor) => {
    let address = plainAddress(peer) ?? peer;
    if (forwardedFor === undefined || isIP(address) === 0) return address;
    for (const hop of forwardedFor.split(',').reverse()) {
      if (!isTrusted(address)) return address;
      const named = plainAddress(hop.trim());
      if (named === null) return address;
      address = named;
    }
    return address;
  };
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

function addNetwork(list: BlockList, network: string): void {
  const [address = '', prefix] = network.split('/');
  if (prefix === undefined) list.addAddress(address, familyOf(address));
  else list.addSubnet(address, Number(prefix), familyOf(address));
}

/** An address as proxies write it, `1.2.3.4:567` and `[::1]:567` included, or null. An IPv4 peer of a dual socket is IPv4. */
function plainAddress(text: string): string | null {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? null : address;
}
