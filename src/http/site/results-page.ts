import type { SearchFacts, SearchResult } from '../../search/index.ts';
import { escapeHtml, withoutHost } from '../../web/escape.ts';
import { languageTag } from '../../web/language-tag.ts';
import { languageOf, type PageLanguage } from '../../web/words/index.ts';
import { bestPassage } from './best-passage.ts';
import { languageNames } from './language-names.ts';

/** Query parameters of the results page. Missing parameters are empty strings. */
export interface WrittenQuery {
  readonly q: string;
  readonly language: string;
  readonly version: string;
  readonly tag: string;
}

export type ResultsOutcome =
  | { readonly kind: 'blank' }
  | {
      readonly kind: 'found';
      readonly results: readonly SearchResult[];
      readonly facts: SearchFacts;
      readonly limit: number;
    }
  | { readonly kind: 'failed'; readonly status: number };

interface ResultsPage {
  readonly language: PageLanguage;
  readonly written: WrittenQuery;
  readonly outcome: ResultsOutcome;
  readonly assets: Readonly<Record<'css' | 'svg', string>>;
}

export const RESULTS_USUAL = 20;
const RESULTS_MAX = 50;
/** Maximum code points of a query. The search boxes of pages have the same maximum. */
export const QUERY_LENGTH_MAX = 1000;
/** Maximum UTF-16 code units of a section to search for its best passage. A usual section has 1,000, but code can be longer. */
const CONTENT_LENGTH_MAX = 2000;

type Words = PageLanguage['words'];

/** Returns the HTML of the search results page, which works without a script. */
export function resultsPage({ language, written, outcome, assets }: ResultsPage): string {
  const { searchBox, resultsPage: texts } = language.words;
  const title = searchBox.open;
  return `<!doctype html>
<html lang="${language.tag}" dir="${language.direction}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${written.q === '' ? title : `${escapeHtml(written.q)} – ${title}`}</title>
<link rel="icon" type="image/svg+xml" href="${assets.svg}">
<link rel="stylesheet" href="${assets.css}">
</head>
<body>
<header>
<div>
<h1><img src="${assets.svg}" width="32" height="32" alt="">${title}</h1>
<p><a href="../">${escapeHtml(texts.home)}</a></p>
</div>
${searchForm(language, written, outcome)}
</header>
<main>
<p id="status" role="status">${escapeHtml(statusOf(language.words, written, outcome))}</p>
${outcome.kind === 'found' ? foundParts(language.words, written, outcome) : ''}</main>
</body>
</html>
`;
}

function searchForm(language: PageLanguage, written: WrittenQuery, outcome: ResultsOutcome): string {
  const { searchBox } = language.words;
  const facets = outcome.kind === 'found' ? outcome.facts.facets : null;
  const nameLanguage = languageNames(language.tag);
  const nameTag = (tag: string): string => nameLanguage(languageTag(tag) ?? tag);
  const same = (value: string): string => value;
  const choices = [
    choice('language', searchBox, written, facets?.languages ?? [], nameTag),
    choice('version', searchBox, written, facets?.versions ?? [], same),
    choice('tag', searchBox, written, facets?.tags ?? [], same),
  ].join('');
  return `<form role="search">
<label for="q">${escapeHtml(searchBox.label)}</label>
<div class="box"><input id="q" name="q" type="search" value="${escapeHtml(written.q)}" maxlength="${QUERY_LENGTH_MAX}" autocapitalize="off" spellcheck="false"><button>${escapeHtml(searchBox.open)}</button></div>
${choices === '' ? '' : `<div class="choices">${choices}</div>\n`}</form>`;
}

function choice(
  name: 'language' | 'version' | 'tag',
  words: Words['searchBox'],
  written: WrittenQuery,
  known: readonly string[],
  nameOf: (value: string) => string,
): string {
  const chosen = written[name];
  const values = chosen === '' || known.includes(chosen) ? known : [chosen, ...known];
  if (values.length === 0) return '';
  const option = (value: string, text: string): string =>
    `<option value="${escapeHtml(value)}"${value === chosen ? ' selected' : ''}>${escapeHtml(text)}</option>`;
  const options = values.map((value) => option(value, nameOf(value)));
  return `<label>${escapeHtml(words[name])} <select name="${name}">${option('', words.all)}${options.join('')}</select></label>`;
}

function statusOf({ searchBox, resultsPage: texts }: Words, { q }: WrittenQuery, outcome: ResultsOutcome): string {
  if (outcome.kind === 'blank') return texts.ask;
  if (outcome.kind === 'failed') {
    if (outcome.status === 429) return searchBox.busy;
    if (outcome.status === 503) return searchBox.notReady;
    return outcome.status < 500 ? texts.refused : searchBox.away;
  }
  const count = outcome.results.length;
  if (count === 0) return searchBox.noneFound.replace('{query}', () => q);
  return searchBox.found.replace('{count}', `${count}${count >= outcome.limit ? '+' : ''}`);
}

function foundParts(
  { searchBox, resultsPage: texts }: Words,
  written: WrittenQuery,
  { results, facts, limit }: Extract<ResultsOutcome, { kind: 'found' }>,
): string {
  const { corrected, excluded, inclusive, facets } = facts;
  const offer = (sentence: string, query: string | null): string => {
    if (query === null) return '';
    const linked = link(addressOf({ ...written, q: query }), query);
    return `<p>${escapeHtml(sentence).replace('{query}', () => linked)}</p>\n`;
  };
  const pages = Map.groupBy(results, ({ path }) => path.replace(/#.*/s, ''));
  const groups = Array.from(pages, ([path, sections]) => pageGroup(path, sections, facets.versions.length > 1));
  const hasMore = results.length >= limit && limit < RESULTS_MAX;
  return [
    excluded.length === 0
      ? ''
      : `<p dir="auto">${escapeHtml(searchBox.excluded).replace('{words}', () => escapeHtml(excluded.join(', ')))}</p>\n`,
    offer(searchBox.inclusive, inclusive),
    offer(searchBox.didYouMean, corrected),
    results.length > 0 ? '' : `<p>${escapeHtml(searchBox.hint)}</p>\n`,
    groups.length === 0 ? '' : `<div id="results">\n${groups.join('')}</div>\n`,
    hasMore ? `<p>${link(addressOf(written, RESULTS_MAX), texts.more)}</p>\n` : '',
  ].join('');
}

function addressOf(written: WrittenQuery, limit?: number): string {
  const parameters = Object.entries(written).filter(([, value]) => value !== '');
  return `?${new URLSearchParams([...parameters, ...(limit === undefined ? [] : [['limit', `${limit}`]])])}`;
}

function link(address: string, text: string): string {
  return `<a dir="auto" href="${escapeHtml(address)}">${escapeHtml(text)}</a>`;
}

/** Returns an address on the host of the site, even if the path begins like the address of another host. */
const onHost = (path: string): string => `/${withoutHost(path)}`;

function pageGroup(path: string, sections: readonly SearchResult[], hasVersions: boolean): string {
  const [first] = sections;
  if (first === undefined) return '';
  const { title, version, language } = first.metadata;
  const tag = language === null ? null : languageTag(language);
  const facts = hasVersions && version !== null ? `<p class="place">${escapeHtml(version)}</p>\n` : '';
  // Set the direction by language. `dir="auto"` would ignore the heading and the list, because their links and items have a
  // `dir`.
  return `<section${tag === null ? '' : ` lang="${tag}" dir="${languageOf(tag)?.direction ?? 'ltr'}"`}>
<h2>${link(onHost(path), title || path)}</h2>
${facts}<ol>
${sections.map(sectionItem).join('')}</ol>
</section>
`;
}

function sectionItem({ content, path, metadata }: SearchResult): string {
  const place = metadata.headings.filter((heading) => heading !== metadata.title).join(' › ');
  return `<li dir="auto">${place === '' ? '' : link(onHost(path), place)}${passage(content, metadata)}</li>\n`;
}

function passage(content: string, { highlights, code }: SearchResult['metadata']): string {
  const text = content.slice(0, CONTENT_LENGTH_MAX);
  const { start, end, isCode } = bestPassage(text, highlights, code);
  const parts: string[] = [];
  let at = start;
  for (const hit of highlights) {
    if (hit.start < at || hit.end > end) continue;
    parts.push(escapeHtml(text.slice(at, hit.start)), `<mark>${escapeHtml(text.slice(hit.start, hit.end))}</mark>`);
    at = hit.end;
  }
  parts.push(escapeHtml(text.slice(at, end).trimEnd()));
  const marked = parts.join('');
  if (isCode) return `<pre class="text" dir="ltr"><code>${marked}</code></pre>`;
  return `<p class="text">${start > 0 ? '… ' : ''}${marked}${end < text.length ? ' …' : ''}</p>`;
}
