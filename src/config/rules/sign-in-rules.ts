import { hostName } from '../../domain/deployment.ts';
import type { ConfigFault } from '../faults.ts';
import type { SiteConfig } from '../loaded-config.ts';
import type { Config } from '../schema/index.ts';
import { faultInside, type Settings } from '../setting.ts';
import { LOOPBACK, type Rule, rule } from './rule.ts';

export const SIGN_IN_RULES: readonly Rule[] = [
  rule(
    ['server.auth.kind', 'server.auth.usersFile'],
    ({ server: { auth } }) => auth.kind === 'basic' && auth.usersFile === null,
    'server.auth.kind is basic, which needs users: set server.auth.usersFile to a file of htpasswd -B',
  ),
  rule(
    ['server.auth.kind', 'server.auth.name'],
    ({ server: { auth } }) => auth.kind === 'header' && auth.name === null,
    'server.auth.kind is header, which needs the name of one: set server.auth.name',
  ),
  rule(
    ['server.auth.kind', 'server.trustedProxies'],
    ({ server: { auth, trustedProxies } }) => auth.kind === 'header' && trustedProxies.length === 0,
    'server.auth.kind is header, and no proxy is trusted to send it: name its address in server.trustedProxies',
  ),
  rule(
    ['server.trustedProxies', 'server.auth.kind'],
    ({ server: { auth, trustedProxies } }) =>
      auth.kind === 'header' && trustedProxies.some((network) => network.endsWith('/0')),
    'server.trustedProxies has a network of all addresses, from which every reader could name himself in server.auth.name; name the proxy alone',
  ),
  rule(
    ['server.auth.kind', 'server.auth.issuer', 'server.auth.clientId'],
    ({ server: { auth } }) => auth.kind === 'oidc' && (auth.issuer === null || auth.clientId === null),
    'server.auth.kind is oidc, which needs a provider: set server.auth.issuer and server.auth.clientId',
  ),
  rule(
    ['server.auth.issuer'],
    ({ server: { auth } }) => auth.kind === 'oidc' && !isEncrypted(auth.issuer),
    'server.auth.issuer is asked without encryption: who stands between could sign in as anybody; use https',
  ),
  rule(
    ['server.publicUrl', 'server.auth.kind'],
    ({ server: { auth, publicUrl } }) => auth.kind === 'oidc' && publicUrl === null,
    'server.auth.kind is oidc, whose provider sends readers back: set server.publicUrl to where they reach the site',
  ),
  rule(
    ['server.publicUrl', 'server.auth.kind'],
    ({ server: { auth, publicUrl } }) => auth.kind === 'oidc' && !isEncrypted(publicUrl),
    'server.publicUrl is reached without encryption, and browsers keep no session there; use https',
  ),
];

/** Null says nothing. Loopback leaves no machine. */
function isEncrypted(url: string | null): boolean {
  if (url === null) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === 'https:' || LOOPBACK.test(hostname);
}

/** Sites of one host share a browser origin: what one of them shows, a script of the other can read (contract, section 2.1). */
export function findMixedSignIns(settings: Settings, { server }: Config, sites: readonly SiteConfig[]): ConfigFault[] {
  const setting = settings.get('sites');
  const first = new Map<string, number>();
  const fault = (index: number, told: string): ConfigFault =>
    faultInside(setting, ['sites', index, 'auth'], (key) => `${key}: ${told}`);
  // An open shelf page shows what everybody may see, and its only scripts are docshelf's own.
  const hasGuardedShelf = setting !== undefined && server.shelf && server.auth.kind !== 'none';
  const withRoot = new Set(sites.filter(({ basePath }) => basePath === '/').flatMap(hostsOf));
  return sites.flatMap((site, index) => {
    const { config, domain } = site;
    for (const host of hostsOf(site)) {
      const other = first.get(host);
      if (other === undefined) first.set(host, index);
      else if (signInOf(config) !== signInOf(sites[other]?.config ?? config)) {
        const told = `site "${domain}" and site "${sites[other]?.domain}" share ${host} and differ in auth, though scripts of one can read the other; give one of them a host of its own`;
        return [fault(index, told)];
      }
    }
    const host = hasGuardedShelf ? hostsOf(site).find((each) => !withRoot.has(each)) : undefined;
    if (host === undefined || signInOf(config) === signInOf({ server })) return [];
    const told = `site "${domain}" and the shelf page share ${host} and differ in auth, though scripts of the site can read what the page lists; give the site a host of its own and base path "/", or set server.shelf to false`;
    return [fault(index, told)];
  });
}

/** In the words of a fault. */
const hostsOf = ({ hosts }: SiteConfig): readonly string[] =>
  hosts.length === 0 ? ['every other host'] : hosts.map(hostName);

const signInOf = ({ server }: Pick<Config, 'server'>): string => JSON.stringify(server.auth);
