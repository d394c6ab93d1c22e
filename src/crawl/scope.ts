/** Addresses of a site that the crawl may fetch. Plain data, because docshelf sends this object to threads. */
export interface ScopeSettings {
  readonly origin: string;
  readonly prefix: string;
  /** Host names of the site in lower case. The crawl fetches all their addresses from the start page's origin. */
  readonly hosts: readonly string[];
}

export function prefixOf({ pathname }: URL): string {
  const slash = pathname.lastIndexOf('/') + 1;
  return slash === pathname.length || pathname.includes('.', slash) ? pathname.slice(0, slash) : `${pathname}/`;
}

export class Scope {
  readonly settings: ScopeSettings;
  readonly origin: string;
  readonly prefix: string;
  readonly #hostname: string;
  readonly #hasDefaultPort: boolean;
  readonly #hosts: ReadonlySet<string>;
  readonly #publicOrigin: string;

  constructor(settings: ScopeSettings) {
    const { origin, prefix, hosts } = settings;
    this.settings = settings;
    const { hostname, port } = new URL(origin);
    this.origin = origin;
    this.prefix = prefix;
    this.#hostname = hostname;
    this.#hasDefaultPort = port === '';
    this.#hosts = new Set(hosts);
    const [first] = hosts;
    this.#publicOrigin = first === undefined ? origin : `https://${first}`;
  }

  /**
   * Normalizes an address: removes fragment and user name, and uses one origin for all hosts of the site. Null for schemes except
   * http(s).
   */
  canonical(url: URL): string | null {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
    const path = `${url.pathname}${url.search}`;
    return (this.isOwn(url) ? this.origin : url.origin) + path;
  }

  isOwn({ origin, hostname, host, port }: URL): boolean {
    if (origin === this.origin || this.#hosts.has(host)) return true;
    return port === '' && (this.#hosts.has(hostname) || (this.#hasDefaultPort && hostname === this.#hostname));
  }

  holdsPage({ pathname }: URL): boolean {
    return pathname.startsWith(this.prefix) || `${pathname}/` === this.prefix;
  }

  published(canonical: string): string {
    return canonical.startsWith(`${this.origin}/`)
      ? this.#publicOrigin + canonical.slice(this.origin.length)
      : canonical;
  }
}
