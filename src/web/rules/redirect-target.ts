import { percentDecode } from '../percent-decode.ts';
import { encodeSegments } from '../percent-encode.ts';
import type { Captures } from './path-pattern.ts';
import { BoundedText, BUILT_CHARS_MAX } from './work.ts';

const ORIGIN = /^https?:\/\/[^/?#]+/i;
const PLACEHOLDER = /:([A-Za-z]\w*)/g;

/** Text of a rule, or a placeholder in it as it is written. */
type Piece = string | { readonly name: string; readonly written: string };
type Template = readonly Piece[];

/** Target of a rule: a path of the site, or an address on a host that the rule names as it is. */
export class RedirectTarget {
  /** Null for a path of the site. */
  readonly origin: string | null;
  /** Host and port of the origin, as browsers send them. */
  readonly host: string | null;
  readonly #path: Template;
  /** The same with its escapes decoded. */
  readonly #decodedPath: Template;
  /** With its `?`. */
  readonly #query: Template;
  /** With its `#`. */
  readonly #fragment: Template;

  private constructor(origin: string | null, host: string | null, path: string, query: string, fragment: string) {
    this.origin = origin;
    this.host = host;
    this.#path = templateOf(path, escaped);
    this.#decodedPath = templateOf(path, (text) => percentDecode(text) ?? text);
    this.#query = templateOf(query, escaped);
    this.#fragment = templateOf(fragment, escaped);
  }

  /** @returns the rest of a sentence if it cannot be read */
  static parse(written: string): RedirectTarget | string {
    if (written.length > BUILT_CHARS_MAX) return `has a target of more than ${BUILT_CHARS_MAX} characters`;
    const origin = ORIGIN.exec(written)?.[0] ?? null;
    const url = origin === null ? null : URL.parse(origin);
    if (origin !== null) {
      if (url === null || url.username !== '' || url.password !== '' || /[%\\]/.test(origin)) {
        return `"${origin}" is no host that can be led to`;
      }
    } else if (!/^\/(?![/\\])/.test(written)) {
      return `"${written}" is neither a path from the root of the site nor an http or https address`;
    }
    const relative = written.slice(origin?.length ?? 0);
    const [, path = '', query = '', fragment = ''] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(relative) ?? [];
    if (percentDecode(path) === null) return `"${written}" holds a percent sign that does not stand for a character`;
    return new RedirectTarget(origin, url?.host ?? null, path === '' ? '/' : path, query, fragment);
  }

  /** Without placeholders. */
  get isLiteral(): boolean {
    return this.#path.every((piece) => typeof piece === 'string');
  }

  /** The path in the site, decoded; null if it is longer than a path can be. */
  pathOf(captures: Captures): string | null {
    const built = new BoundedText();
    fillPath(built, this.#decodedPath, captures, (text) => text);
    return built.text?.replace(/^\/+/, '/') ?? null;
  }

  /**
   * For a Location header: no captured text leads to another host or makes a second header. Null if it would be longer than
   * a header can be.
   *
   * @param moved the path, mounted elsewhere
   * @param query of the request, with its `?`, or empty
   */
  location(captures: Captures, query: string, moved: (path: string) => string): string | null {
    const path = new BoundedText();
    fillPath(path, this.#path, captures, encodeSegments);
    const ownQuery = new BoundedText();
    fill(ownQuery, this.#query, captures, encodeURIComponent);
    const fragment = new BoundedText();
    fill(fragment, this.#fragment, captures, encodeURIComponent);
    if (path.text === null || ownQuery.text === null || fragment.text === null) return null;
    const place = folded(path.text);
    const isJoined = ownQuery.text.length > 1 && query.length > 1;
    const pieces = [
      this.origin === null ? folded(moved(place)) : this.origin + place,
      isJoined ? `${ownQuery.text}&${query.slice(1)}` : ownQuery.text || query,
      fragment.text,
    ];
    const built = new BoundedText();
    for (const piece of pieces) built.add(piece);
    return built.text;
  }
}

/** `//host` would lead to a host: also if the move takes the first folder away. */
const folded = (path: string): string => path.replace(/^[/\\]+/, '/');

/** @param write what an address says for text of the rule */
function templateOf(written: string, write: (text: string) => string): Template {
  const pieces: Piece[] = [];
  let end = 0;
  for (const { index, 0: placeholder, 1: name = '' } of written.matchAll(PLACEHOLDER)) {
    if (index > end) pieces.push(write(written.slice(end, index)));
    pieces.push({ name, written: placeholder });
    end = index + placeholder.length;
  }
  if (end < written.length) pieces.push(write(written.slice(end)));
  return pieces;
}

function fill(into: BoundedText, template: Template, captures: Captures, encode: (text: string) => string): void {
  for (const text of filled(into, template, captures, encode)) if (!into.add(text)) return;
}

/** No name of a release has an empty segment: a captured text that ends with a slash, or is empty, makes none. */
function fillPath(into: BoundedText, template: Template, captures: Captures, encode: (text: string) => string): void {
  for (const text of filled(into, template, captures, encode)) {
    if (!into.add(into.endsWithSlash && text.startsWith('/') ? text.slice(1) : text)) return;
  }
}

/** A captured text is encoded once, and only if it may fit: to encode it makes it no shorter. */
function* filled(
  into: BoundedText,
  template: Template,
  captures: Captures,
  encode: (text: string) => string,
): Generator<string> {
  const encoded = new Map<string, string>();
  for (const piece of template) {
    if (typeof piece === 'string') yield piece;
    else {
      const captured = captures.get(piece.name);
      const fits = captured !== undefined && captured.length <= into.room;
      const text = encoded.get(piece.name) ?? (fits ? encode(captured) : (captured ?? piece.written));
      encoded.set(piece.name, text);
      yield text;
    }
  }
}

/** Escapes the characters that no address holds as they are; escapes stay. */
function escaped(text: string): string {
  return text.replace(/[^\x21-\x7e]|["<>\\^`{|}]/gu, encodeURIComponent);
}

/** True if a location is the requested address, by its host and path. */
export function isAt(location: string, host: string | undefined, asked: string): boolean {
  const url = URL.parse(location);
  if (url === null || url.host !== host?.toLowerCase()) return false;
  return percentDecode(url.pathname) === asked;
}
