/** Plain data: it crosses a thread. */
export interface ScopeSettings {
  /** Of the start page, after redirects. */
  readonly origin: string;
  readonly prefix: string;
  /** In lower case, asked at the start's origin. */
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
    // The other scheme of the same host.
    return port === '' && (this.#hosts.has(hostname) || (this.#hasDefaultPort && hostname === this.#hostname));
  }

  holdsPage({ pathname }: URL): boolean {
    return pathname.startsWith(this.prefix) || `${pathname}/` === this.prefix;
  }

  /** An own address at the first of the site's hosts. */
  published(canonical: string): string {
    return canonical.startsWith(`${this.origin}/`)
      ? this.#publicOrigin + canonical.slice(this.origin.length)
      : canonical;
  }
}
