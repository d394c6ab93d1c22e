import { escapeHtml } from '../escape.ts';

/** Markup in each language that docshelf has words in, by its tag in `PAGE_LANGUAGES`. */
export type TranslatedMarkup = Readonly<Record<string, string>>;

/** Markup that docshelf adds to pages, in this order. Each piece is ASCII and complete. */
export interface PageAdditions {
  /** For the end of `<head>`: links, metas, scripts. */
  readonly head: readonly (string | TranslatedMarkup)[];
  /** For the end of `<body>`; a page of frames has none. */
  readonly body: readonly string[];
}

export const NO_ADDITIONS: PageAdditions = { head: [], body: [] };

export function isEmptyAdditions({ head, body }: PageAdditions): boolean {
  return head.length === 0 && body.length === 0;
}

export function joinAdditions(parts: readonly PageAdditions[]): PageAdditions {
  return { head: parts.flatMap(({ head }) => head), body: parts.flatMap(({ body }) => body) };
}

/** Escapes text or an attribute's value to ASCII, so that it is valid in a page of any charset. */
export function escapeToAscii(text: string): string {
  return escapeHtml(text.toWellFormed()).replaceAll(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** A start tag. @param attributes null and false omit the attribute, true writes it without a value */
export function startTag(name: string, attributes: Readonly<Record<string, string | boolean | null>>): string {
  const written = Object.entries(attributes).map(([key, value]) => {
    if (value === null || value === false) return '';
    return value === true ? ` ${key}` : ` ${key}="${escapeToAscii(value)}"`;
  });
  return `<${name}${written.join('')}>`;
}

/** Larger ones are sent as they are, from disk: with additions they would be in memory whole. */
const ADDED_PAGE_BYTES_MAX = 8 * 1024 ** 2;

/** Files that a browser shows as HTML. XHTML is another language, in which a stray tag shows an error instead of the page. */
export function acceptsAdditions(mediaType: string, size: number): boolean {
  return /^text\/html(?:;|$)/.test(mediaType) && size <= ADDED_PAGE_BYTES_MAX;
}

/** That hold for scripts of files, the first that a policy has (Content Security Policy 3, section 6.8.1). */
const DIRECTIVES = ['script-src-elem', 'script-src', 'default-src'];

/**
 * False if a page's policies let no script of its own site run that they do not name one by one, by a nonce or a hash. A host may be
 * the site's own, so that counts as allowed.
 *
 * @param policies as in `Content-Security-Policy`: all of them have to agree
 */
export function allowsOwnScripts(policies: string): boolean {
  return policies.split(',').every((policy) => {
    const directives = new Map<string, readonly string[]>();
    for (const directive of policy.split(';')) {
      const [name, ...sources] = directive.trim().toLowerCase().split(/\s+/);
      if (name !== undefined && !directives.has(name)) directives.set(name, sources);
    }
    const sources = DIRECTIVES.map((name) => directives.get(name)).find((each) => each !== undefined);
    if (sources === undefined) return true;
    // With it hosts and 'self' count for nothing.
    if (sources.includes("'strict-dynamic'")) return false;
    return sources.some((source) => source === "'self'" || !source.startsWith("'"));
  });
}
