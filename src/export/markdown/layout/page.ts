import { escapeHtml } from '../../../web/escape.ts';
import type { RenderedText } from '../render/render-markdown.ts';
import type { Page } from '../site/page.ts';
import { layoutDocument } from './document.ts';
import { groupTitleOf } from './navigation.ts';
import type { View } from './view.ts';

export interface PageBody {
  /** The title as HTML. */
  readonly heading: string;
  readonly text: RenderedText;
}

/** Characters of a description taken from the text: as many as search engines show. */
const DESCRIPTION_LENGTH_MAX = 160;

export function layoutPage(view: View, page: Page, { heading, text }: PageBody): string {
  const isHome = page === view.local.home && page.key === '';
  const group = isHome ? null : groupTitleOf(view);
  const label = group === null ? '' : `<p class="group">${escapeHtml(group)}</p>`;
  const lead = page.description === null ? '' : `<p class="lead">${escapeHtml(page.description)}</p>`;
  const title = `<header class="title">${label}<h1>${heading}</h1>${lead}</header>`;
  return layoutDocument(view, {
    title: documentTitle(view.site.name, page.title),
    description: page.description ?? shorten(text.opening),
    main: `<article${isHome ? ' class="home"' : ''}>${title}${text.html}</article>${pager(view, page)}${footer(view)}`,
    aside: contents(view, text),
  });
}

export function layoutNotFound(view: View, content: PageBody | null): string {
  const { words } = view.local.language;
  const home = view.to(view.local.home?.path ?? 'index.html');
  const own =
    content === null
      ? `<header class="title"><p class="group">404</p><h1>${escapeHtml(words.notFound)}</h1><p class="lead">${escapeHtml(words.notFoundLead)}</p></header><p><a class="button" href="${escapeHtml(home)}">${escapeHtml(words.toStart)}</a></p>`
      : `<header class="title"><h1>${content.heading}</h1></header>${content.text.html}`;
  return layoutDocument(view, {
    title: documentTitle(view.site.name, words.notFound),
    description: words.notFoundLead,
    main: `<article class="not-found">${own}</article>${footer(view)}`,
    aside: '<aside class="contents"></aside>',
  });
}

/** A page that redirects, for hosts without redirects. */
export function layoutRedirect(title: string, target: string, canonical: string): string {
  const to = escapeHtml(target);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escapeHtml(title)}</title>
<meta http-equiv="refresh" content="0; url=${to}">
<link rel="canonical" href="${escapeHtml(canonical)}">
</head>
<body><p><a href="${to}">${escapeHtml(title)}</a></p></body>
</html>
`;
}

function documentTitle(site: string, page: string): string {
  return site === page ? site : `${page} · ${site}`;
}

function shorten(text: string | null): string | null {
  if (text === null || text.length <= DESCRIPTION_LENGTH_MAX) return text;
  return `${text.slice(0, DESCRIPTION_LENGTH_MAX - 1).replace(/\s+\S*$/u, '')}…`;
}

function contents({ local }: View, { headings }: RenderedText): string {
  if (headings.length < 2) return '<aside class="contents"></aside>';
  const links = headings.map(
    ({ id, level, text }) =>
      `<li class="level-${level}"><a href="#${escapeHtml(encodeURIComponent(id))}">${escapeHtml(text)}</a></li>`,
  );
  const title = escapeHtml(local.language.words.onThisPage);
  return `<aside class="contents"><nav aria-labelledby="_contents"><h2 id="_contents">${title}</h2><ul>${links.join('')}</ul></nav></aside>`;
}

function pager({ local, to }: View, page: Page): string {
  const at = local.listed.indexOf(page);
  if (at === -1) return '';
  const { words } = local.language;
  const link = (target: Page | undefined, rel: 'prev' | 'next', label: string) =>
    target === undefined
      ? '<span></span>'
      : `<a rel="${rel}" class="${rel}" href="${escapeHtml(to(target.path))}"><span>${escapeHtml(label)}</span>${escapeHtml(target.sidebarTitle)}</a>`;
  const links = link(local.listed[at - 1], 'prev', words.previous) + link(local.listed[at + 1], 'next', words.next);
  return `<nav class="pager" aria-label="${escapeHtml(`${words.previous} / ${words.next}`)}">${links}</nav>`;
}

function footer({ site }: View): string {
  const name = site.version === null ? site.name : `${site.name} ${site.version}`;
  return `<footer>${escapeHtml(site.footer === null ? name : `${name} · ${site.footer}`)}</footer>`;
}
