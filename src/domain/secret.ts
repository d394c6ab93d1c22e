const REDACTED = '[redacted]';

/** Symbol of Node's `util.inspect`, used without an import. */
const INSPECT = Symbol.for('nodejs.util.inspect.custom');

/** A credential. Text, JSON and log output show it as `[redacted]`, so that docshelf cannot print it by mistake. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  equals(other: Secret | null): boolean {
    return other !== null && other.#value === this.#value;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }

  [INSPECT](): string {
    return REDACTED;
  }
}

/** Compares data that can contain credentials. Fast for shared objects, because a reload compares the settings of every site. */
export function isSameData(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  if (one instanceof Secret && other instanceof Secret) return one.equals(other);
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false;
  const [members, others] = [Object.entries(one), new Map(Object.entries(other))];
  return members.length === others.size && members.every(([key, value]) => isSameData(value, others.get(key)));
}

/** Shows only scheme, host and path, because the user part, query, fragment, and a URL without `//` can be credentials. */
export function linkWithoutSecrets(link: string): string {
  if (!URL.canParse(link)) return REDACTED;
  const url = new URL(link);
  const origin = `${url.protocol}//`;
  return url.href.startsWith(origin) ? `${origin}${url.host}${url.pathname}` : `${url.protocol}${REDACTED}`;
}

const SHOWN_NAME_CHARS_MAX = 160;

/** Shortens a name, and escapes its control characters, characters that change the writing direction, quotes and backslashes. */
export function showName(name: string): string {
  const cut = name.length > SHOWN_NAME_CHARS_MAX ? `${name.slice(0, SHOWN_NAME_CHARS_MAX)}…` : name;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
