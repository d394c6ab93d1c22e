import { escapeHtml } from '../escape.ts';

type TranslatedMarkup = Readonly<Record<string, string>>;

/** Markup that docshelf adds to pages, by language if it is translated. Each piece is ASCII, and closes all its elements. */
export interface PageAdditions {
  readonly head: readonly (string | TranslatedMarkup)[];
  readonly body: readonly (string | TranslatedMarkup)[];
}

export const NO_ADDITIONS: PageAdditions = { head: [], body: [] };

export const isEmptyAdditions = ({ head, body }: PageAdditions): boolean => head.length === 0 && body.length === 0;

export function joinAdditions(parts: readonly (PageAdditions | null | undefined)[]): PageAdditions {
  return { head: parts.flatMap((part) => part?.head ?? []), body: parts.flatMap((part) => part?.body ?? []) };
}

/** Escapes HTML, and all characters except ASCII, so that the text is valid in a page of any charset. */
export const escapeToAscii = (text: string): string =>
  escapeHtml(text.toWellFormed()).replaceAll(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`);

/** Writes an HTML start tag. Null and false omit an attribute, true writes an attribute without a value. */
export function startTag(name: string, attributes: Readonly<Record<string, string | boolean | null>>): string {
  const written = Object.entries(attributes).map(([key, value]) => {
    if (value === null || value === false) return '';
    return value === true ? ` ${key}` : ` ${key}="${escapeToAscii(value)}"`;
  });
  return `<${name}${written.join('')}>`;
}

/** Maximum size of a page to which docshelf adds markup. Larger pages are streamed from disk without additions. */
const ADDED_PAGE_BYTES_MAX = 8 * 1024 ** 2;

/** True if docshelf may add markup to the file. False for XHTML, where one wrong tag replaces the page by an error. */
export const acceptsAdditions = (mediaType: string, size: number): boolean =>
  /^text\/html(?:;|$)/.test(mediaType) && size <= ADDED_PAGE_BYTES_MAX;

/**
 * Directives that apply to script files, in order of precedence. In a policy, browsers use only the first of them (Content
 * Security Policy 3, section 6.8.1).
 */
const DIRECTIVES = ['script-src-elem', 'script-src', 'default-src'];

/** True if a `Content-Security-Policy` allows docshelf's scripts. Any host in the policy counts as the host of the site. */
export function allowsOwnScripts(policies: string): boolean {
  return policies.split(',').every((policy) => {
    const directives = new Map<string, readonly string[]>();
    for (const directive of policy.split(';')) {
      const [name, ...sources] = directive.trim().toLowerCase().split(/\s+/);
      if (name !== undefined && !directives.has(name)) directives.set(name, sources);
    }
    const sources = DIRECTIVES.map((name) => directives.get(name)).find((each) => each !== undefined);
    if (sources === undefined) return true;
    if (sources.includes("'strict-dynamic'")) return false;
    return sources.some((source) => source === "'self'" || !source.startsWith("'"));
  });
}
