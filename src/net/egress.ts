import dns from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import { bareHost, type EgressRules, type Endpoint, hostAndPort, namesHost, portOf } from '../domain/egress.ts';
import { DocshelfError } from '../domain/errors.ts';
import { linkWithoutSecrets } from '../domain/secret.ts';
import { AddressGuard, carriedAddresses, isIn, listOf, withoutZone } from './guarded-address.ts';

interface CrawlReach {
  /**
   * Private addresses that the crawl may contact: pairs `host:port`, or networks. Networks apply only to `ownOrigins` and to pairs
   * in `network.allowedHosts`.
   */
  readonly allowAddresses: readonly string[];
  readonly ownOrigins: readonly string[];
}

interface PrivateReach {
  readonly guard: AddressGuard;
  readonly ports: ReadonlySet<string> | null;
  /** Pairs `host:port` for which the policy permits any private address. */
  readonly pairs: ReadonlySet<string>;
}

/** Only src/net opens sockets, and each socket there requires this policy, except in `daemon-request.ts`. Tests check this. */
export class EgressPolicy {
  readonly browserFlags: readonly string[] = NO_WAY_OUT;
  readonly #rulesNow: () => EgressRules;
  readonly #reach: PrivateReach | undefined;

  /** @param rules pass a function if the policy is used after a reload of the config */
  constructor(rules: EgressRules | (() => EgressRules), reach?: PrivateReach) {
    this.#rulesNow = typeof rules === 'function' ? rules : () => rules;
    this.#reach = reach;
  }

  get rules(): EgressRules {
    return this.#rulesNow();
  }

  get #private(): PrivateReach {
    return this.#reach ?? (this.rules.allowPrivate ? EVERY_ADDRESS : PUBLIC_ADDRESSES);
  }

  forCrawl({ allowAddresses, ownOrigins }: CrawlReach): EgressPolicy {
    const isNetwork = (entry: string): boolean => isIP(entry.split('/')[0] ?? '') !== 0;
    const guard = new AddressGuard({ allowPrivate: false, allowAddresses: allowAddresses.filter(isNetwork) });
    const named = this.rules.allowedHosts.filter((entry) => /^[^*].*:\d+$/.test(entry));
    const ports = new Set([...named, ...ownOrigins.flatMap(portsOf)]);
    const pairs = new Set(allowAddresses.filter((entry) => !isNetwork(entry)).map((entry) => entry.toLowerCase()));
    return new EgressPolicy(this.rules, { guard, ports, pairs });
  }

  /** Returns the policy for an object store. Permits private addresses, because the store can be in the operator's own network. */
  forStore(caFile: () => string | null): EgressPolicy {
    return new EgressPolicy(() => ({ ...this.rules, caFile: caFile() }), EVERY_ADDRESS);
  }

  get allowsPrivate(): boolean {
    return this.#private.guard.allowsPrivate;
  }

  /** @param isRedirect true if the URL is the target of a redirect @throws DocshelfError `host_not_allowed` */
  admit(url: URL, isRedirect = false): void {
    if (namesHost(this.rules, url)) return;
    throw new DocshelfError(
      'host_not_allowed',
      `Cannot fetch "${linkWithoutSecrets(url.href)}": its host is not allowed`,
      {
        next: `Add "${url.host}" to network.allowedHosts if docshelf may contact it.`,
        fields: { host: url.host, redirected: isRedirect, retryable: false },
      },
    );
  }

  /** @throws DocshelfError `host_not_allowed`; NodeJS.ErrnoException if the name cannot be resolved */
  async addressesOf(url: URL): Promise<readonly string[]> {
    this.admit(url);
    const found = await lookup(bareHost(url.hostname), { all: true });
    return found.map(({ address }) => address);
  }

  allowsAddress(address: string, host: string, port: number): boolean {
    const { guard, ports, pairs } = this.#private;
    if (this.rules.ownPorts.includes(port) && isOfThisMachine(address)) return false;
    const kind = guard.kindOf(address);
    if (kind !== 'private') return kind === 'public';
    const pair = `${host.toLowerCase()}:${port}`;
    if (pairs.has(pair)) return true;
    return guard.allows(address) && (ports === null || ports.has(pair));
  }

  /** Checks whether the config lists the host in `network.allowedHosts`, `allowAddresses` or the origins of the crawl. */
  lists(url: Endpoint): boolean {
    if (!this.rules.allowsUnnamed) return namesHost(this.rules, url);
    const { ports, pairs } = this.#private;
    const pair = hostAndPort(url);
    return pairs.has(pair) || ports?.has(pair) === true;
  }

  /** Checks the host and port before docshelf resolves the name. The addresses need another check when the socket opens. */
  refusalOf(url: Endpoint): AddressRefused | null {
    const bare = bareHost(url.hostname);
    const isRefused =
      this.#private.guard.isMetadataHost(bare) ||
      (isIP(bare) !== 0 && !this.allowsAddress(bare, url.hostname, portOf(url))) ||
      !namesHost(this.rules, url);
    return isRefused ? new AddressRefused(url.hostname) : null;
  }

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
}

/** Block the requests that docshelf cannot intercept: WebSockets, preconnects, WebRTC and the browser's own requests. */
const NO_WAY_OUT = [
  // Requests through this proxy fail, because no server uses port 9 (discard). `<-loopback>` applies the proxy to loopback
  // addresses too.
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];

/** Error for a host that the policy rejects. The message contains the host name, but never an internal address. */
export class AddressRefused extends Error {
  override readonly name = 'AddressRefused';
  readonly code = 'ADDRESS_REFUSED';

  constructor(host: string, reason = 'is not allowed') {
    super(`the address of "${host}" ${reason}`);
  }
}

const everyPort = (allowPrivate: boolean): PrivateReach => ({
  guard: new AddressGuard({ allowPrivate, allowAddresses: [] }),
  ports: null,
  pairs: new Set(),
});
const EVERY_ADDRESS = everyPort(true);
const PUBLIC_ADDRESSES = everyPort(false);

/** Returns both default ports if the origin has a default port, because sites redirect from http to https or back. */
function portsOf(origin: string): string[] {
  const { hostname, protocol, port } = new URL(origin);
  if (port !== '') return [hostAndPort({ hostname, protocol, port })];
  return ['80', '443'].map((own) => hostAndPort({ hostname, protocol, port: own }));
}

/** Addresses of this machine. A connection to an unspecified address also reaches this machine (ip(7)). */
const HERE = listOf(['127.0.0.0/8', '0.0.0.0', '::1', '::']);

function isOfThisMachine(address: string): boolean {
  const bare = withoutZone(address);
  if (isIP(bare) === 0) return false;
  if (isIn(HERE, bare) || carriedAddresses(bare).some(isOfThisMachine)) return true;
  return Object.values(networkInterfaces()).some((each) => each?.some((own) => withoutZone(own.address) === bare));
}
