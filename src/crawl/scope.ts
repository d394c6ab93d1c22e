/** Plain data that crosses threads. */
export interface ScopeSettings {
  /** Origin of the start page, after redirects. */
  readonly origin: string;
  readonly prefix: string;
  /** Host names of the site, in lower case. Their addresses are fetched at the origin of the start page. */
  readonly hosts: readonly string[];
}

/** `/docs/` for `/docs`, `/docs/` and `/docs/index.html` */
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

  /** Absolute, without fragment and user, own addresses at one origin; null for other schemes than http(s). */
  canonical(url: URL): string | null {
    if (url.protocol !== 'https:' && url.protocol !== 'http:') return null;
    const path = `${url.pathname}${url.search}`;
    return (this.isOwn(url) ? this.origin : url.origin) + path;
  }

  isOwn({ origin, hostname, host, port }: URL): boolean {
    if (origin === this.origin || this.#hosts.has(host)) return true;
    // The same host with the other scheme.
    return port === '' && (this.#hosts.has(hostname) || (this.#hasDefaultPort && hostname === this.#hostname));
  }

  holdsPage({ pathname }: URL): boolean {
    return pathname.startsWith(this.prefix) || `${pathname}/` === this.prefix;
  }

  /** Moves an own address to the site's first host. */
  published(canonical: string): string {
    return canonical.startsWith(`${this.origin}/`)
      ? this.#publicOrigin + canonical.slice(this.origin.length)
      : canonical;
  }
}
