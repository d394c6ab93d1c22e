import { srcsetSpans } from '../rewrite/markup/lists.ts';

/** A link of a `Link` header (RFC 8288). */
export interface HeaderLink {
  readonly address: string;
  /** As they are written: `rel=preload`, `crossorigin`. */
  readonly parameters: readonly string[];
}

/** A path of the site, in which no reader of URLs strips or turns a character (URL standard: tabs, line ends, backslashes). */
const OWN_PATH = /^\/(?![/\\])[^\s<>"\\]*$/;
/** An address that names neither a scheme nor a folder: a fragment, a file beside the page. */
const OWN_NAME = /^[^\s<>"\\:/]*$/;
const TOKEN = /[!#$%&'*+.^_`|~0-9A-Za-z-]+/y;
const SPACE = /[ \t]*/y;
const QUOTED = /"((?:[^"\\]|\\.)*)"/y;
/** Everything up to the next separator: many values are written without their quotes. */
const UNQUOTED = /[^,;"<>\s]+/y;
/** Parameters of text, in which browsers look for no address. */
const TEXTS = new Set(
  'rel rev type title title* hreflang media as crossorigin integrity nonce referrerpolicy fetchpriority imagesizes sizes blocking'.split(
    ' ',
  ),
);

/** The links of a header's value that stay on the site, and how many do not. In one pass. */
export function ownLinks(value: string): { readonly links: readonly HeaderLink[]; readonly leftOut: number } {
  const links: HeaderLink[] = [];
  let leftOut = 0;
  let at = 0;
  while (at < value.length) {
    at = skip(SPACE, value, at);
    if (value[at] === ',') {
      at += 1;
      continue;
    }
    if (at >= value.length) break;
    const { link, end } = readLink(value, at);
    if (link === null) leftOut += 1;
    else links.push(link);
    at = link === null ? behindLink(value, at) : end;
  }
  return { links, leftOut };
}

export const writeLink = ({ address, parameters }: HeaderLink): string => [`<${address}>`, ...parameters].join('; ');

/** The link with each of its addresses moved. */
export function movedLink({ address, parameters }: HeaderLink, moved: (path: string) => string): HeaderLink {
  return {
    address: moved(address),
    parameters: parameters.map((parameter) => {
      const [, name = '', value = ''] = /^([^=]+)="?([^"]*)"?$/.exec(parameter) ?? [];
      if (TEXTS.has(name.toLowerCase()) || value === '') return parameter;
      let written = '';
      let end = 0;
      for (const [from, to] of addressSpans(name, value)) {
        written += value.slice(end, from) + moved(value.slice(from, to));
        end = to;
      }
      return `${name}="${written}${value.slice(end)}"`;
    }),
  };
}

/** @returns no link if its syntax is not understood, or an address in it may leave the site */
function readLink(value: string, start: number): { readonly link: HeaderLink | null; readonly end: number } {
  const none = { link: null, end: start };
  const close = value[start] === '<' ? value.indexOf('>', start) : -1;
  if (close === -1) return none;
  const address = value.slice(start + 1, close).trim();
  if (!OWN_PATH.test(address)) return none;
  const parameters: string[] = [];
  let at = skip(SPACE, value, close + 1);
  while (value[at] === ';') {
    at = skip(SPACE, value, at + 1);
    const nameEnd = skip(TOKEN, value, at);
    if (nameEnd === at) continue;
    const name = value.slice(at, nameEnd);
    at = skip(SPACE, value, nameEnd);
    if (value[at] !== '=') {
      parameters.push(name);
      continue;
    }
    at = skip(SPACE, value, at + 1);
    const end = skip(value[at] === '"' ? QUOTED : UNQUOTED, value, at);
    const written = value.slice(at, end);
    if (!staysHere(name.toLowerCase(), written.replace(/^"|"$/g, ''))) return none;
    parameters.push(`${name}=${written}`);
    at = skip(SPACE, value, end);
  }
  return at < value.length && value[at] !== ',' ? none : { link: { address, parameters }, end: at };
}

/** False for a value in which a browser may find an address elsewhere, or another link. */
function staysHere(name: string, value: string): boolean {
  if (value === '' || /[<\t]/.test(value)) return false;
  if (TEXTS.has(name)) return true;
  // `anchor*=UTF-8''…` is written in another encoding.
  if (name.endsWith('*')) return false;
  const addresses = addressSpans(name, value).map((span) => value.slice(...span));
  return addresses.every((address) => OWN_PATH.test(address) || OWN_NAME.test(address));
}

const addressSpans = (name: string, value: string): readonly (readonly [from: number, to: number])[] =>
  name.toLowerCase() === 'imagesrcset' ? srcsetSpans(value) : [[0, value.length]];

/** The comma after a link that is left out: outside of its address and of quotes. Without their ends, no link follows. */
function behindLink(value: string, start: number): number {
  let at = start;
  while (at < value.length && value[at] !== ',') {
    const end = value[at] === '<' ? value.indexOf('>', at) + 1 : value[at] === '"' ? skip(QUOTED, value, at) : at + 1;
    if (end <= at) return value.length;
    at = end;
  }
  return at;
}

/** The end of a match at a place, or the place. */
function skip(expression: RegExp, value: string, at: number): number {
  expression.lastIndex = at;
  return expression.test(value) ? expression.lastIndex : at;
}
