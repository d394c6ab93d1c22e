import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { bareHost } from '../../domain/egress.ts';
import { DocshelfError } from '../../domain/errors.ts';

/** Probes come by whatever name an orchestrator gives a pod, and tell nothing. */
const HEALTH: ReadonlySet<string> = new Set(['/livez', '/readyz']);

/**
 * Refuses requests for another host's name: a page whose name is made to lead here (DNS rebinding) is of the same origin
 * as the answers for its browser, and sends that name.
 * @param hosts names besides `localhost`, every IP address and this machine's; `*`: all
 * @throws DocshelfError `misdirected`
 */
export function requireOwnName(url: string, hosts: readonly string[]): void {
  const asked = new URL(url);
  if (HEALTH.has(asked.pathname)) return;
  const name = bareHost(asked.hostname).replace(/\.$/, '');
  const own = ['localhost', hostname(), ...hosts].map((each) => each.toLowerCase());
  if (isIP(name) !== 0 || own.includes(name) || own.includes('*')) return;
  throw new DocshelfError('misdirected', `Cannot answer for "${name}": the admin listener has no such name`, {
    next: 'Ask it by an IP address or localhost, or add the name to admin.hosts.',
  });
}
