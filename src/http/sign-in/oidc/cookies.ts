/** Of one name a browser sends those of all paths that fit, and what other hosts below the domain have set, in any number. */
const SAME_NAME_MAX = 64;
/** Of a sealed value: any is longer than its random part, seal and date, and none is over what browsers keep. */
const VALUE_LENGTHS = [64, 4_096] as const;

/** A cookie of one site, for its path alone (RFC 6265bis, section 4.1.3). */
export class SiteCookie {
  readonly name: string;
  readonly #path: string;
  readonly #isSecure: boolean;
  readonly #sameSite: 'Lax' | 'Strict';

  /** @param path of the site, with its last slash. @param isSecure false: readers come without TLS */
  constructor(name: string, path: string, isSecure = true, sameSite: 'Lax' | 'Strict' = 'Lax') {
    const prefix = path === '/' ? '__Host-' : '__Secure-';
    this.name = isSecure ? prefix + name : name;
    this.#path = path;
    this.#isSecure = isSecure;
    this.#sameSite = sameSite;
  }

  /** Its values in a request. */
  valuesIn(header: string | undefined): string[] {
    const values: string[] = [];
    for (const pair of header?.split(';') ?? []) {
      const end = pair.indexOf('=');
      if (end === -1 || pair.slice(0, end).trim() !== this.name) continue;
      const value = pair.slice(end + 1).trim();
      if (value.length >= VALUE_LENGTHS[0] && value.length <= VALUE_LENGTHS[1]) values.push(value);
      if (values.length === SAME_NAME_MAX) break;
    }
    return values;
  }

  set(value: string, ttlMs: number): string {
    const secure = this.#isSecure ? ' Secure;' : '';
    return `${this.name}=${value}; Path=${this.#path}; Max-Age=${Math.floor(ttlMs / 1000)}; HttpOnly;${secure} SameSite=${this.#sameSite}`;
  }

  clear(): string {
    return this.set('', 0);
  }
}
