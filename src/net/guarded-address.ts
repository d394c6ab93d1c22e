import { BlockList, isIP } from 'node:net';

/** `metadata`: services that give cloud credentials to any process of the machine. `private`: not reachable from the Internet. */
type AddressKind = 'public' | 'private' | 'metadata';

type AddressRules = { readonly allowPrivate: boolean; readonly allowAddresses: readonly string[] };

/** Networks of IANA's IPv4 special-purpose registry that are not globally reachable, and multicast (RFC 6890, RFC 5771). */
const PRIVATE_V4 = (
  '0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.0.2.0/24 ' +
  '192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/3'
).split(' ');

/** IANA assigns global unicast IPv6 addresses only from 2000::/3 (RFC 4291, section 2.4), with the exceptions in `PRIVATE_V6`. */
const UNICAST_V6 = ['2000::/3'];
const PRIVATE_V6 = ['2001::/23', '2001:db8::/32', '3fff::/20'];

/** Metadata services. IPv4: AWS and most clouds, ECS, EKS, Alibaba, Oracle, Azure, Tencent. IPv6: AWS, EKS, Google, OpenStack. */
const METADATA = (
  '169.254.169.254 169.254.170.2 169.254.170.23 100.100.100.200 192.0.0.192 168.63.129.16 169.254.0.23 ' +
  'fd00:ec2::254 fd00:ec2::23 fd20:ce::254 fe80::a9fe:a9fe'
).split(' ');

const METADATA_HOST =
  /^(?:metadata(?:\.google\.internal|\.goog|\.azure\.internal)?|instance-data(?:\.ec2\.internal)?)\.?$/i;

export class AddressGuard {
  readonly allowsPrivate: boolean;
  readonly #allowed: BlockList;
  readonly #private = listOf([...PRIVATE_V4, ...PRIVATE_V6]);
  readonly #unicast = listOf(UNICAST_V6);
  readonly #metadata = listOf(METADATA);

  constructor({ allowPrivate, allowAddresses }: AddressRules) {
    this.allowsPrivate = allowPrivate;
    this.#allowed = listOf(allowAddresses);
  }

  allows(address: string): boolean {
    const bare = withoutZone(address);
    const kind = this.kindOf(bare);
    if (kind === 'metadata') return false;
    return kind === 'public' || this.allowsPrivate || isIn(this.#allowed, bare) || this.#allowsCarried(bare);
  }

  isMetadataHost(host: string): boolean {
    return METADATA_HOST.test(host);
  }

  kindOf(address: string): AddressKind {
    const bare = withoutZone(address);
    if (isIP(bare) === 0) return 'private';
    if (isIn(this.#metadata, bare)) return 'metadata';
    if (isIP(bare) === 4) return isIn(this.#private, bare) ? 'private' : 'public';
    const carried = carriedAddresses(bare);
    if (carried.length > 0) {
      const kinds = carried.map((each) => this.kindOf(each));
      return (['metadata', 'private'] as const).find((worst) => kinds.includes(worst)) ?? 'public';
    }
    const translated = locallyTranslated(bare);
    if (translated !== null && this.kindOf(translated) === 'metadata') return 'metadata';
    return isIn(this.#unicast, bare) && !isIn(this.#private, bare) ? 'public' : 'private';
  }

  #allowsCarried(address: string): boolean {
    const carried = carriedAddresses(address);
    return carried.length > 0 && carried.every((each) => this.allows(each));
  }
}

export const isIn = (list: BlockList, address: string): boolean =>
  list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4');

export function listOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return list;
}

export const withoutZone = (address: string): string => address.replace(/%.*$/s, '');

/** IPv4 addresses in an IPv6 address: mapped, translated, compatible, NAT64 (RFC 6052), 6to4, Teredo (RFC 4380), ISATAP. */
export function carriedAddresses(address: string): string[] {
  if (isIP(address) !== 6) return [];
  const groups = groupsOf(address);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = groups;
  const isZeroTo = (count: number): boolean => groups.slice(0, count).every((group) => group === 0);
  if (isZeroTo(5) && f === 0xffff) return [dotted(g, h)];
  if (isZeroTo(4) && e === 0xffff && f === 0) return [dotted(g, h)];
  if (isZeroTo(6) && (g !== 0 || h > 1)) return [dotted(g, h)];
  if (a === 0x64 && b === 0xff9b && groups.slice(2, 6).every((group) => group === 0)) return [dotted(g, h)];
  if (a === 0x2002) return [dotted(b, c)];
  if (a === 0x2001 && b === 0) return [dotted(c, d), dotted(g ^ 0xffff, h ^ 0xffff)];
  if ((e === 0 || e === 0x0200) && f === 0x5efe) return [dotted(g, h)];
  return [];
}

/** IPv4 address in a local NAT64 address (`64:ff9b:1::/48`, RFC 8215) with a 96-bit prefix. Null for other addresses. */
function locallyTranslated(address: string): string | null {
  const [a, b, c, , , , g = 0, h = 0] = groupsOf(address);
  return a === 0x64 && b === 0xff9b && c === 1 ? dotted(g, h) : null;
}

export function groupsOf(address: string): number[] {
  const [head = '', tail] = address.split('::');
  const [left, right] = [readGroups(head), readGroups(tail ?? '')];
  return tail === undefined ? left : [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

function readGroups(text: string): number[] {
  if (text === '') return [];
  return text.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
    return [a * 256 + b, c * 256 + d];
  });
}

const dotted = (high: number, low: number): string => [high >> 8, high & 0xff, low >> 8, low & 0xff].join('.');
