import { escapeHtml } from '../escape-html.ts';

/** Markup in each language that docshelf has words in, by its tag in `PAGE_LANGUAGES`. */
export type TranslatedMarkup = Readonly<Record<string, string>>;

/** What docshelf adds to pages: markup in ASCII, each piece whole in itself, in the order in which it is to stand. */
export interface PageAdditions {
  /** For the end of `<head>`: links, metas, scripts. */
  readonly head: readonly (string | TranslatedMarkup)[];
  /** For the end of `<body>`; a page of frames has none. */
  readonly body: readonly string[];
}

export const NO_ADDITIONS: PageAdditions = { head: [], body: [] };

export function areNone({ head, body }: PageAdditions): boolean {
  return head.length === 0 && body.length === 0;
}

export function joinAdditions(parts: readonly PageAdditions[]): PageAdditions {
  return { head: parts.flatMap(({ head }) => head), body: parts.flatMap(({ body }) => body) };
}

/** Text or an attribute's value of an addition: a page in any charset has the characters of ASCII. */
export function asciiHtml(text: string): string {
  return escapeHtml(text.toWellFormed()).replaceAll(/[^\0-\x7f]/gu, (character) => `&#${character.codePointAt(0)};`);
}

/** A start tag. @param attributes null and false are left out, true stands without a value */
export function startTag(name: string, attributes: Readonly<Record<string, string | boolean | null>>): string {
  const written = Object.entries(attributes).map(([key, value]) => {
    if (value === null || value === false) return '';
    return value === true ? ` ${key}` : ` ${key}="${asciiHtml(value)}"`;
  });
  return `<${name}${written.join('')}>`;
}
