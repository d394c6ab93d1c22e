/** What a server asks for before it answers (`WWW-Authenticate`, RFC 9110 section 11.6.1). */
export interface Challenge {
  /** In lower case: `bearer`, `basic`. */
  readonly scheme: string;
  /** Names in lower case. */
  readonly parameters: Readonly<Record<string, string>>;
}

/** A word, and where it is the name of a parameter its value: quoted, or a word. A word alone is a scheme. */
const PIECE = /([\w!#$%&'*+.^`|~-]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([\w!#$%&'*+.^`|~-]+)))?/g;
/** No server has more to say. */
const CHARACTERS_MAX = 8192;

/** @param header `Bearer realm="https://auth.example/token",service="registry", Basic realm="registry"` */
export function parseChallenges(header: string): Challenge[] {
  const challenges: { scheme: string; parameters: Record<string, string> }[] = [];
  for (const [, word = '', quoted, plain] of header.slice(0, CHARACTERS_MAX).matchAll(PIECE)) {
    const value = quoted?.replace(/\\(.)/g, '$1') ?? plain;
    const current = challenges.at(-1);
    if (value === undefined) challenges.push({ scheme: word.toLowerCase(), parameters: {} });
    else if (current !== undefined) current.parameters[word.toLowerCase()] = value;
  }
  return challenges;
}
