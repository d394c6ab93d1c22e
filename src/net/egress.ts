import dns from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { bareHost, type EgressRules, type Endpoint, hostAndPort, namesHost, portOf } from '../domain/egress.ts';
import { DocshelfError } from '../domain/errors.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import { AddressGuard, carriedAddresses, isIn, listOf, withoutZone } from './guarded-address.ts';

/** Addresses that a crawl may reach in addition to public ones. */
export interface CrawlReach {
  /** Networks (CIDR), for `ownOrigins` and the pairs of `network.allowedHosts` alone; and pairs `host:port`. */
  readonly allowAddresses: readonly string[];
  /** URLs of the site itself. */
  readonly ownOrigins: readonly string[];
}

interface PrivateReach {
  readonly guard: AddressGuard;
  /** Null: every port of what the guard allows. */
  readonly ports: ReadonlySet<string> | null;
  /** `host:port` whose addresses may all be private. */
  readonly pairs: ReadonlySet<string>;
}

/**
 * The gate: nothing in `net` that opens a socket can be made without one, and nothing outside of `net` opens any (a test
 * holds both). It judges hosts by name, addresses when the socket opens, and our own listeners always.
 */
export class EgressPolicy {
  readonly #rulesNow: () => EgressRules;
  readonly #reachOf: (rules: EgressRules) => PrivateReach;

  /** @param rules a value, or a function for an object that outlives a reload */
  constructor(rules: EgressRules | (() => EgressRules), reach?: PrivateReach) {
    this.#rulesNow = typeof rules === 'function' ? rules : () => rules;
    const [open, closed] = [everyPort(true), everyPort(false)];
    this.#reachOf = ({ allowPrivate }) => reach ?? (allowPrivate ? open : closed);
  }

  get rules(): EgressRules {
    return this.#rulesNow();
  }

  get #private(): PrivateReach {
    return this.#reachOf(this.rules);
  }

  /** No private address but those of its reach. */
  forCrawl({ allowAddresses, ownOrigins }: CrawlReach): EgressPolicy {
    const isNetwork = (entry: string): boolean => isIP(entry.split('/')[0] ?? '') !== 0;
    const guard = new AddressGuard({ allowPrivate: false, allowAddresses: allowAddresses.filter(isNetwork) });
    const named = this.rules.allowedHosts.filter((entry) => /^[^*].*:\d+$/.test(entry));
    const ports = new Set([...named, ...ownOrigins.flatMap(portsOf)]);
    const pairs = new Set(allowAddresses.filter((entry) => !isNetwork(entry)).map((entry) => entry.toLowerCase()));
    return new EgressPolicy(this.rules, { guard, ports, pairs });
  }

  /** For a store of the operator's own: it may stand on a private address, and has its own certificates. */
  forStore(caFile: () => string | null): EgressPolicy {
    return new EgressPolicy(() => ({ ...this.rules, caFile: caFile() }), everyPort(true));
  }

  /** Only intercepted requests leave a browser, and the policy checks each of them. */
  get browserFlags(): readonly string[] {
    return NO_WAY_OUT;
  }

  get allowsPrivate(): boolean {
    return this.#private.guard.allowsPrivate;
  }

  allowsHost(url: URL): boolean {
    return namesHost(this.rules, url);
  }

  /** @throws DocshelfError `host_not_allowed` @param isRedirect for the fault's fields */
  admit(url: URL, isRedirect = false): void {
    if (this.allowsHost(url)) return;
    throw new DocshelfError(
      'host_not_allowed',
      `Cannot fetch "${linkWithoutSecrets(url.href)}": its host is not allowed`,
      {
        next: `Add "${url.host}" to network.allowedHosts if docshelf may ask it.`,
        fields: { host: url.host, redirected: isRedirect, retryable: false },
      },
    );
  }

  /** @throws DocshelfError `host_not_allowed`; the name service's own errors */
  async addressesOf(url: URL): Promise<readonly string[]> {
    this.admit(url);
    const found = await lookup(bareHost(url.hostname), { all: true });
    return found.map(({ address }) => address);
  }

  /** @param address as a socket has it @param host of the URL, whose address it is */
  allowsAddress(address: string, host: string, port: number): boolean {
    const { guard, ports, pairs } = this.#private;
    if (this.#isOwnListener(address, port)) return false;
    const kind = guard.kindOf(address);
    if (kind !== 'private') return kind === 'public';
    const pair = `${host.toLowerCase()}:${port}`;
    if (pairs.has(pair)) return true;
    return guard.allows(address) && (ports === null || ports.has(pair));
  }

  /** True if the operator named it: in `network.allowedHosts`, as a pair, or as the origin of the crawl itself. */
  lists(url: Endpoint): boolean {
    if (!this.rules.allowsUnnamed) return namesHost(this.rules, url);
    const { ports, pairs } = this.#private;
    const pair = hostAndPort(url);
    return pairs.has(pair) || ports?.has(pair) === true;
  }

  /** Null if a socket to it may be opened, as far as is known without its addresses. */
  refusalOf(url: Endpoint): AddressRefused | null {
    const bare = bareHost(url.hostname);
    const isRefused =
      this.#private.guard.isMetadataHost(bare) ||
      (isIP(bare) !== 0 && !this.allowsAddress(bare, url.hostname, portOf(url))) ||
      !namesHost(this.rules, url);
    return isRefused ? new AddressRefused(url.hostname) : null;
  }

  /** Name service for a socket to that host and port. */
  lookupFor(host: string, port: number): LookupFunction {
    return (name, options, callback) => {
      dns.lookup(name, { ...options, all: true }, (error, addresses) => {
        if (error !== null) return callback(error, []);
        const allowed = addresses.filter(({ address }) => this.allowsAddress(address, host, port));
        const [first] = allowed;
        if (first === undefined) return callback(new AddressRefused(name), []);
        return options.all === true ? callback(null, allowed) : callback(null, first.address, first.family);
      });
    };
  }

  #isOwnListener(address: string, port: number): boolean {
    return this.rules.ownPorts.includes(port) && isOfThisMachine(address);
  }
}

/** WebSockets, preconnects, WebRTC, the browser's own requests: all that no interception sees. */
const NO_WAY_OUT = [
  // Port 9 is discard; without the second rule loopback is asked without the proxy.
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

/** A socket that the gate does not let through. The message names the host, and no address of the inside. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';

  constructor(host: string, reason = 'is not one that may be asked') {
    super(`the address of "${host}" ${reason}`);
  }
}

const everyPort = (allowPrivate: boolean): PrivateReach => ({
  guard: new AddressGuard({ allowPrivate, allowAddresses: [] }),
  ports: null,
  pairs: new Set(),
});

/** A site on a scheme's own port goes over to the other scheme. */
function portsOf(origin: string): string[] {
  const { hostname, protocol, port } = new URL(origin);
  if (port !== '') return [hostAndPort({ hostname, protocol, port })];
  return ['80', '443'].map((own) => hostAndPort({ hostname, protocol, port: own }));
}

/** An unspecified address leads to this machine as well (ip(7)). */
const HERE = listOf(['127.0.0.0/8', '0.0.0.0', '::1', '::']);

function isOfThisMachine(address: string): boolean {
  const bare = withoutZone(address);
  if (isIP(bare) === 0) return false;
  if (isIn(HERE, bare) || carriedAddresses(bare).some(isOfThisMachine)) return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => withoutZone(own.address) === bare));
}
