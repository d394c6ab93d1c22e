import { type FileTable, isPage } from '../domain/release.ts';
import { isPagePart } from './media-type.ts';

/**
 * Matches folders in which generators never change a file: Next.js, Astro, Nuxt (except one file), SvelteKit, rustdoc, Gatsby
 * and VitePress.
 */
const FOLDERS =
  /(?:^|\/)(?:_next\/static\/|_astro\/|_nuxt\/(?!builds\/latest\.json$)|_app\/immutable\/|static\.files\/|static\/[0-9a-f]{32}\/|assets\/chunks\/(?:[^/]+\.)?[A-Za-z0-9_-]{8}\.js$)/;

const FOLDERS_MAX = 256;

/** Finds files that never change: their name contains a digest, or their generator never changes a file in their folder. */
export class ImmutableNames {
  readonly #files: Pick<FileTable, 'namesIn'>;
  readonly #byFolder = new Map<string, Alphabets>();

  constructor(files: Pick<FileTable, 'namesIn'>) {
    this.#files = files;
  }

  /**
   * True if the file at `path` never changes. Its folder or name shows this, or its name has a likely digest at the same
   * position as other names in the folder.
   */
  has(path: string): boolean {
    if (isPage(path)) return false;
    if (FOLDERS.test(path)) return true;
    const folder = path.slice(0, path.lastIndexOf('/') + 1);
    const name = path.slice(folder.length);
    if (hasOtherDigest(name)) return false;
    const tokens = tokensOf(name);
    if (GENERATOR_SHAPES.some((shape) => shape.test(name)) || tokens.some(({ text }) => isCertain(text))) return true;
    if (!isPagePart(path)) return false;
    const alphabets = this.#alphabetsIn(folder);
    return tokens.some(({ text, place }) => {
      const alphabet = alphabets.get(place);
      return alphabet !== undefined && isDigestIn(alphabet, text);
    });
  }

  #alphabetsIn(folder: string): Alphabets {
    const known = this.#byFolder.get(folder);
    if (known !== undefined) return known;
    if (this.#byFolder.size >= FOLDERS_MAX) this.#byFolder.clear();
    const alphabets = digestAlphabets(this.#files.namesIn(folder).filter(isPagePart));
    this.#byFolder.set(folder, alphabets);
    return alphabets;
  }
}

/** Alphabet of the digests in the file names of a folder, by the position of the digest in the name (`Token.place`). */
type Alphabets = ReadonlyMap<string, RegExp>;

/** Digest alphabets, smallest first: hex in lower and upper case, base 32 (esbuild), base 36, base64url (Rollup). */
const ALPHABETS = [/^[0-9a-f]+$/, /^[0-9A-F]+$/, /^[A-Z2-7]+$/, /^[0-9a-z]+$/, /^[A-Za-z0-9_-]+$/];
const HEX = /^(?:[0-9a-f]+|[0-9A-F]+)$/;
const BASE32 = /^[A-Z2-7]+$/;
const BASE64URL = /^[A-Za-z0-9_-]+$/;

const DIGEST_CHARS_MIN = 8;
const DIGEST_CHARS_MAX = 64;
/** A hexadecimal text of this length that has letters and digits is certainly a digest, not a word, number or date. */
const CERTAIN_HEX_CHARS = 16;

/** Matches a date such as `20240601`, with up to three more characters. */
const DAY = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])[0-9a-z]{0,3}$/i;
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/i;
/**
 * Matches Doxygen's file names. Their digest comes from a folder's path or a member's signature, not from the content, so
 * these files may change.
 */
const DOXYGEN = /^dir_[0-9a-f]{32}(?=[._])|_a[0-9a-f]{32}_i?cgraph\./;

const hasOtherDigest = (name: string): boolean => UUID.test(name) || DOXYGEN.test(name);

/** Match file names that contain a digest: Hugo's pictures, Pagefind's shards, and VitePress's pages. */
const GENERATOR_SHAPES = [
  /_hu_?(?:[0-9a-f]{16,64}|\d{15,20})(?=[._])/,
  /_[0-9a-f]{7,}\.pf_(?:fragment|index|filter|meta)$/,
  /\.md\.[A-Za-z0-9_-]{8}(?:\.lean)?\.js$/,
];

function changesIn(token: string): number {
  let changes = 0;
  let last = '';
  for (const character of token) {
    const kind = /[0-9]/.test(character) ? '0' : /[a-z]/.test(character) ? 'a' : /[A-Z]/.test(character) ? 'A' : '-';
    if (last !== '' && kind !== last) changes += 1;
    last = kind;
  }
  return changes;
}

function isCertain(token: string): boolean {
  if (token.length < DIGEST_CHARS_MIN || !/[0-9]/.test(token) || !/[A-Za-z]/.test(token) || DAY.test(token))
    return false;
  if (HEX.test(token)) return token.length >= CERTAIN_HEX_CHARS || changesIn(token) >= 2;
  if (token.length !== DIGEST_CHARS_MIN) return false;
  if (BASE32.test(token)) return changesIn(token) >= 3;
  return BASE64URL.test(token) && /[a-z]/.test(token) && /[A-Z]/.test(token) && changesIn(token) >= 5;
}

function isPlainWord(token: string, isHex: boolean): boolean {
  if (DAY.test(token)) return true;
  if (isHex) return !/[0-9]/.test(token);
  return /^(?:[A-Z]*[a-z]+|[A-Z]?[a-z]+[A-Z][a-z]+|[A-Z]+|\d+)[_-]?\d*$/.test(token) || /^[\d_-]+$/.test(token);
}

interface Token {
  readonly text: string;
  /**
   * Position of a possible digest in a file name: the character before it (`^` at the start), then its length. A generator puts
   * digests at the same position of all names.
   */
  readonly place: string;
}

/** Splits a file name into texts that may be digests: the texts between dots, and the end of each such text after a `-` or `_`. */
function tokensOf(name: string): Token[] {
  const parts = name.split('.');
  if (parts.length > 1) parts.pop();
  const tokens: Token[] = [];
  const add = (sign: string, text: string): void => {
    if (text.length >= DIGEST_CHARS_MIN) tokens.push({ text, place: `${sign}${text.length}` });
  };
  for (const [index, part] of parts.entries()) {
    if (part.length <= DIGEST_CHARS_MAX) add(index === 0 ? '^' : '.', part);
    // A hex digest may be in the middle of a file name, with the size of the picture after it.
    for (const piece of part.split(/[-_]/).slice(0, -1)) if (HEX.test(piece)) add('_', piece);
    for (let at = Math.max(0, part.length - DIGEST_CHARS_MAX - 1); at < part.length; at++) {
      if (part[at] === '-' || part[at] === '_') add('-', part.slice(at + 1));
    }
  }
  return tokens;
}

/**
 * Minimum number and share of certain digests at one position of the file names in a folder. Similar texts at that position then
 * also count as digests.
 */
const CERTAIN_NAMES_MIN = 3;
const CERTAIN_SHARE_MIN = 1 / 4;
const CARRYING_SHARE_MIN = 1 / 2;

function digestAlphabets(names: readonly string[]): Alphabets {
  const alphabets = new Map<string, RegExp>();
  const tokens = names.filter((name) => !hasOtherDigest(name)).flatMap(tokensOf);
  for (const [place, group] of Map.groupBy(tokens, (token) => token.place)) {
    const texts = group.map(({ text }) => text);
    const certain = texts.filter(isCertain);
    if (certain.length < CERTAIN_NAMES_MIN || certain.length < texts.length * CERTAIN_SHARE_MIN) continue;
    const alphabet = ALPHABETS.find((each) => certain.every((text) => each.test(text)));
    if (alphabet === undefined) continue;
    const carrying = texts.filter((text) => isDigestIn(alphabet, text));
    if (carrying.length >= names.length * CARRYING_SHARE_MIN) alphabets.set(place, alphabet);
  }
  return alphabets;
}

const isDigestIn = (alphabet: RegExp, text: string): boolean =>
  alphabet.test(text) && !isPlainWord(text, alphabet === ALPHABETS[0] || alphabet === ALPHABETS[1]);
