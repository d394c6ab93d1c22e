import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { hostName } from '../../domain/deployment.ts';
import { bareHost } from '../../domain/egress.ts';

/** By what a site knows its own origins. */
export interface OriginPlace {
  /** `server.publicUrl`; its scheme and port are those of all sites. */
  readonly publicUrl: string | null;
  /** Host names of the site; none: every host that no other site names. */
  readonly hosts: readonly string[];
}

/**
 * True for the origin of pages of the site itself. A page whose name is made to lead here (DNS rebinding) sends that name as its
 * host and its origin: the host that was asked counts only where the config names it, or where nobody else can give it away.
 * @param origin the `Origin` header, as browsers serialise it (RFC 6454, section 6.1)
 * @param host the `Host` header
 */
export function isOwnOrigin(origin: string, host: string | undefined, { publicUrl, hosts }: OriginPlace): boolean {
  const url = URL.parse(origin);
  if (url === null || url.origin !== origin || !/^https?:$/.test(url.protocol)) return false;
  const names = hosts.map(hostName);
  if (publicUrl !== null) {
    const own = new URL(publicUrl);
    const ours = names.length === 0 ? [own.hostname] : names;
    if (url.protocol === own.protocol && url.port === own.port && ours.includes(url.hostname)) return true;
  }
  // A proxy may speak TLS in front: the scheme is not compared.
  if (URL.parse(`${url.protocol}//${host ?? ''}`)?.host !== url.host) return false;
  const name = hostName(url.host);
  return names.includes(name) || isOfThisMachine(name);
}

function isOfThisMachine(name: string): boolean {
  return isIP(bareHost(name)) !== 0 || name === 'localhost' || name === hostname().toLowerCase();
}
