import { escapeHtml } from '../../web/escape.ts';
import type { PageLanguage } from '../../web/words/index.ts';
import { documentAnswer } from './page-answer.ts';

export const OPEN_SEARCH_PATH = '/_docshelf/opensearch.xml';
export const OPEN_SEARCH_TYPE = 'application/opensearchdescription+xml';

export interface DescribedSearch {
  /** Of the site. */
  readonly name: string;
  /** Of the site's first page, absolute, with its last slash. */
  readonly address: string;
  readonly language: PageLanguage;
}

/** Characters that ShortName and LongName of the format may have. */
const SHORT_MAX = 16;
const LONG_MAX = 48;
/** XML has no way to write these (section 2.2). */
const NO_XML = /[^\t\n\r -\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu;

/** What a browser calls the search of a site: in the link to its description, and there. */
export const shortName = (name: string): string => cut(name, SHORT_MAX);

/** By which browsers search a site from their address bar (OpenSearch 1.1). */
export function openSearchAnswer(method: string, { name, address, language }: DescribedSearch): Response {
  const own = address + OPEN_SEARCH_PATH.slice(1);
  const body = `<?xml version="1.0" encoding="UTF-8"?>
<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">
<ShortName>${xml(shortName(name))}</ShortName>
<LongName>${xml(cut(name, LONG_MAX))}</LongName>
<Description>${xml(language.words.searchBox.label)}</Description>
<Url type="text/html" method="get" template="${xml(address)}_docshelf/search?q={searchTerms}"/>
<Url type="${OPEN_SEARCH_TYPE}" rel="self" template="${xml(own)}"/>
<Language>${language.tag}</Language>
<InputEncoding>UTF-8</InputEncoding>
<OutputEncoding>UTF-8</OutputEncoding>
</OpenSearchDescription>
`;
  return documentAnswer(method, OPEN_SEARCH_TYPE, body);
}

function cut(text: string, charactersMax: number): string {
  return [...text].slice(0, charactersMax).join('').trim();
}

function xml(text: string): string {
  return escapeHtml(text.toWellFormed().replaceAll(NO_XML, '\ufffd'));
}
