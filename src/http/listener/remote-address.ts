import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { isIn, listOf } from '../../net/guarded-address.ts';

const IPV4_MAPPED = '::ffff:';

/** Each trusted proxy appends the address that it saw, so the last untrusted address is the client's. */
export function remoteAddressBehind(
  trustedProxies: readonly string[],
): (peer: string, forwardedFor: string | undefined) => string {
  const isTrusted = trustedPeers(trustedProxies);

  return (peer, forwardedFor) => {
    let address = unmapped(peer);
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

export function peerOf(incoming: IncomingMessage): string {
  return incoming.socket.remoteAddress ?? '';
}

/** True if the address of the socket itself is in one of the networks. Headers do not count. */
export function trustedPeers(networks: readonly string[]): (peer: string) => boolean {
  const trusted = listOf(networks);
  return (peer) => {
    const address = unmapped(peer);
    return isIP(address) !== 0 && isIn(trusted, address);
  };
}

const unmapped = (peer: string): string => (peer.startsWith(IPV4_MAPPED) ? (plainAddress(peer) ?? peer) : peer);

/** Accepts `1.2.3.4:567` and `[::1]:567`. IPv4-mapped addresses become IPv4. Null for text that is no address. */
function plainAddress(text: string): string | null {
  const bare = /^\[(.+)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text;
  const address = /^::ffff:([\d.]+)$/i.exec(bare)?.[1] ?? bare;
  return isIP(address) === 0 ? null : address;
}
