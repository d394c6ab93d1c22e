import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { generateCookie } from 'hono/cookie';

/** Maximum cookie values to try, because other hosts of the domain can set any number of cookies with the same name. */
const SAME_NAME_MAX = 64;
/** Minimum and maximum length of a sealed value, which contains an IV, tag and date. Browsers store at most 4,096 bytes. */
const VALUE_LENGTHS = [64, 4_096] as const;

/**
 * Cookie for the path of one site. Has the prefix `__Host-` only for the path `/`, as browsers require (RFC 6265bis, section
 * 4.1.3).
 */
export class SiteCookie {
  readonly name: string;
  readonly #path: string;
  readonly #isSecure: boolean;
  readonly #sameSite: 'Lax' | 'Strict';

  constructor(name: string, path: string, isSecure = true, sameSite: 'Lax' | 'Strict' = 'Lax') {
    const prefix = path === '/' ? '__Host-' : '__Secure-';
    this.name = isSecure ? prefix + name : name;
    this.#path = path;
    this.#isSecure = isSecure;
    this.#sameSite = sameSite;
  }

  /** All values of the cookie. The first value can be from another host, and hono's `getCookie` returns only the first value. */
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
    const [path, secure, sameSite] = [this.#path, this.#isSecure, this.#sameSite];
    const maxAge = Math.floor(ttlMs / 1000);
    return generateCookie(this.name, value, { path, maxAge, httpOnly: true, secure, sameSite });
  }

  clear(): string {
    return this.set('', 0);
  }
}

const CIPHER = 'aes-256-gcm';
const [IV_BYTES, TAG_BYTES] = [12, 16];

export class Seals {
  readonly #keys: readonly Buffer[];

  /** @param keys secrets: the first seals, and all of them open. An operator can thus replace a secret without signing readers out */
  constructor(keys: readonly string[]) {
    this.#keys = keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', 'docshelf sign-in', 32)));
  }

  /** Encrypts a value. @param purpose context of the value; `open` needs the same purpose to read the value */
  seal(purpose: string, value: object, ttlMs: number): string {
    const iv = randomBytes(IV_BYTES);
    const cipher = createCipheriv(CIPHER, this.#keys[0] ?? Buffer.alloc(0), iv).setAAD(Buffer.from(purpose));
    const text = JSON.stringify({ value, expiresMs: Date.now() + ttlMs });
    const sealed = Buffer.concat([iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return sealed.toString('base64url');
  }

  open<T extends object>(purpose: string, text: string): T | null {
    const sealed = Buffer.from(text, 'base64url');
    if (sealed.length <= IV_BYTES + TAG_BYTES) return null;
    for (const key of this.#keys) {
      try {
        const opening = createDecipheriv(CIPHER, key, sealed.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
          .setAAD(Buffer.from(purpose))
          .setAuthTag(sealed.subarray(-TAG_BYTES));
        const whole = Buffer.concat([opening.update(sealed.subarray(IV_BYTES, -TAG_BYTES)), opening.final()]);
        const { value, expiresMs } = JSON.parse(whole.toString()) as { value: T; expiresMs: number };
        return expiresMs > Date.now() ? value : null;
      } catch {}
    }
    return null;
  }
}
