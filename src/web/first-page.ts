import { decodeHTML, decodeHTMLAttribute } from 'entities/decode';
import { RAW_TEXT, refreshOf } from './rewrite/markup/elements.ts';
import { MarkupScanner } from './rewrite/markup/scanner.ts';
import { detachString } from './rewrite/source-text.ts';

export interface FirstPage {
  /** Title of the page without the site's name, or only the site's name if the page has a generic title such as Home or Welcome. */
  readonly title: string | null;
  readonly description: string | null;
  readonly language: string | null;
  readonly refresh: string | null;
}

/** Maximum UTF-16 code units of a title. docshelf cuts longer texts, because a list shows only two or three lines. */
const TITLE_LENGTH_MAX = 120;
const DESCRIPTION_LENGTH_MAX = 300;
const LANGUAGE_LENGTH_MAX = 35;

export function readFirstPage(html: string): FirstPage {
  const head = readHead(html);
  const first = (name: string): string => head.metadata.get(name) ?? '';
  const title = titleOf(head.title ?? first('og:title'), first('og:site_name'));
  const language = head.language ?? '';
  return {
    title: shortened(title, TITLE_LENGTH_MAX),
    description: shortened(first('description') || first('og:description'), DESCRIPTION_LENGTH_MAX),
    language: language.length > LANGUAGE_LENGTH_MAX ? null : shortened(language, LANGUAGE_LENGTH_MAX),
    refresh: refreshOf(first('refresh'))?.address || null,
  };
}

const SEPARATOR = / (?:\||–|—|·|•|»|::) /g;
/** Separator of page and site name if a title has no other separator. A hyphen may be part of the title: `Tutorial - Basics`. */
const HYPHEN = / - /g;
const GENERIC_TITLE =
  /^(?:home(?: ?page)?|index|introduction|overview|start(?: here| page)?|getting started|welcome)$/i;

function titleOf(written: string, siteName: string): string {
  const separator = [...written.matchAll(SEPARATOR)].at(-1);
  const between = separator ?? [...written.matchAll(HYPHEN)].at(-1);
  if (between === undefined) return GENERIC_TITLE.test(written) && siteName !== '' ? siteName : written;
  const sides = [written.slice(0, between.index), written.slice(between.index + between[0].length)] as const;
  const [page, site] = sides[0] === siteName ? [sides[1], sides[0]] : sides;
  if (GENERIC_TITLE.test(page)) return site;
  return separator !== undefined || site === siteName || GENERIC_TITLE.test(site) ? page : written;
}

function shortened(text: string, lengthMax: number): string | null {
  const short = text.length > lengthMax ? `${text.slice(0, lengthMax - 1).trimEnd()}…` : text;
  // Copy the text, because a slice would keep the whole page in memory.
  return short === '' ? null : detachString(short.toWellFormed());
}

function readHead(html: string) {
  const head = { title: null as string | null, language: null as string | null, metadata: new Map<string, string>() };
  const scanner = new MarkupScanner(html);
  const attribute = (name: string): string | null => {
    const written = scanner.attribute(name);
    return written === null ? null : oneLine(decodeHTMLAttribute(written)) || null;
  };
  const onMeta = (): void => {
    const name = (attribute('name') ?? attribute('property') ?? attribute('http-equiv'))?.toLowerCase();
    const content = attribute('content');
    if (name !== undefined && content !== null && !head.metadata.has(name)) head.metadata.set(name, content);
  };
  scanner.read({
    onStartTag: () => {
      const { tagName: tag, contentStart } = scanner;
      if (!scanner.isHtml) return;
      if (tag === 'body' || tag === 'plaintext') scanner.skipAll();
      else if (tag === 'html') head.language ??= attribute('lang') ?? attribute('xml:lang');
      else if (tag === 'meta') onMeta();
      else if (RAW_TEXT.has(tag)) {
        const end = scanner.skipRawText();
        if (tag === 'title') head.title ??= oneLine(decodeHTML(html.slice(contentStart, end))) || null;
      }
    },
  });
  return head;
}

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
