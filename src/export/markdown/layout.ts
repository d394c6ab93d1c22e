import { escapeHtml } from '../../web/escape.ts';
import { firstPageIn, type NavigationNode } from './navigation.ts';
import type { Page } from './page.ts';
import type { RenderedText } from './render-markdown.ts';
import { canonicalOf, referenceOf, type View } from './view.ts';

export type PageBody = { readonly heading: string; readonly text: RenderedText };

/** Maximum characters of a page's meta description, because search engines show no more. */
const DESCRIPTION_LENGTH_MAX = 160;

export function layoutPage(view: View, page: Page, { heading, text }: PageBody): string {
  const isHome = page === view.local.home && page.key === '';
  const group = isHome ? null : groupTitleOf(view);
  const label = group === null ? '' : `<p class="group">${escapeHtml(group)}</p>`;
  const lead = page.description === null ? '' : `<p class="lead">${escapeHtml(page.description)}</p>`;
  // Set the id on the article, because an id of its `h1` would add a fragment to the address of the page in search results.
  const id = text.title === null ? '' : ` id="${escapeHtml(text.title.id)}"`;
  const title = `<header class="title">${label}<h1>${heading}</h1>${lead}</header>`;
  return layoutDocument(view, {
    title: documentTitle(view.site.name, page.title),
    description: page.description ?? shorten(text.opening),
    main: `<article${id}${isHome ? ' class="home"' : ''}>${title}${text.html}</article>${pager(view, page)}${footer(view)}`,
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

const documentTitle = (site: string, page: string): string => (site === page ? site : `${page} · ${site}`);

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

interface DocumentParts {
  readonly title: string;
  readonly description: string | null;
  readonly main: string;
  readonly aside: string;
}

const MENU_ICON = '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5.5h14M3 10h14M3 14.5h14"/></svg>';
const LANGUAGE_ICON =
  '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M17.500 10a7.500 7.500 0 1 1-15 0 7.500 7.500 0 0 1 15 0ZM2.500 10h15M10 2.500c2 2 3 4.600 3 7.500s-1 5.500-3 7.500c-2-2-3-4.600-3-7.500s1-5.500 3-7.500Z"/></svg>';

/** Reserves space for the search box, so that the box moves no other element. The space is empty without docshelf or scripts. */
const SEARCH_ROOM = '<span class="search" data-docshelf-search></span>';

function layoutDocument(view: View, parts: DocumentParts): string {
  const { words, code, direction } = view.local.language;
  const navigationLabel = escapeHtml(words.navigation);
  return `<!doctype html>
<html lang="${escapeHtml(code)}" dir="${direction}">
<head>
${head(view, parts)}
</head>
<body data-copy="${escapeHtml(words.copy)}" data-copied="${escapeHtml(words.copied)}">
<a class="skip" href="#_content">${escapeHtml(words.skip)}</a>
<header class="top">
<button class="icon menu" type="button" popovertarget="_navigation" aria-label="${navigationLabel}">${MENU_ICON}</button>
${brand(view)}
${versionBadge(view)}<span class="space"></span>
${SEARCH_ROOM}
${linkBar(view)}${languageSwitch(view)}${themeSwitch(view)}
</header>
<div class="frame">
<nav class="navigation" id="_navigation" popover aria-label="${navigationLabel}">${layoutNavigation(view)}${linkBar(view)}${versionBadge(view)}</nav>
<main id="_content" tabindex="-1">
${parts.main}
</main>
${parts.aside}
</div>
</body>
</html>
`;
}

function head(view: View, { title, description }: DocumentParts): string {
  const { site, page, theme, local, to } = view;
  const icon = site.favicon ?? theme.icon.path;
  const meta = (name: string, content: string | null, key = 'name') =>
    content === null || content === '' ? '' : `<meta ${key}="${name}" content="${escapeHtml(content)}">\n`;
  const version = page?.version ?? site.version;
  const lines = `<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<meta name="color-scheme" content="light dark">
${meta('description', description)}${meta('keywords', page?.tags.join(', ') ?? null)}${meta('docsearch:language', local.language.code)}${meta('docsearch:version', version)}${page === null || page.isNoindex ? meta('robots', 'noindex') : ''}${meta('generator', 'docshelf')}${meta('og:title', page?.title ?? null, 'property')}${meta('og:site_name', site.name, 'property')}${meta('og:type', page === null ? null : 'article', 'property')}<link rel="icon" href="${escapeHtml(to(icon))}">
`;
  // Embed style and script in the 404 page: browsers can show this page at any path, so relative addresses would not work.
  const own = site.css === null ? '' : `<link rel="stylesheet" href="${escapeHtml(to(site.css))}">\n`;
  return page === null
    ? `${lines}<style>\n${theme.css.text}</style>\n<script>\n${theme.js.text}</script>`
    : `${lines}${pageLinks(view, page)}<link rel="stylesheet" href="${escapeHtml(to(theme.css.path))}">
${own}<script src="${escapeHtml(to(theme.js.path))}"></script>`;
}

function pageLinks({ site, to }: View, page: NonNullable<View['page']>): string {
  const translations = site.translationsOf(page);
  const main = site.languages[0]?.language.code;
  const alternates = (translations.length < 2 ? [] : translations).flatMap((each) =>
    [each.language, ...(each.language === main ? ['x-default'] : [])].map(
      (code) => `<link rel="alternate" hreflang="${escapeHtml(code)}" href="${escapeHtml(canonicalOf(site, each))}">\n`,
    ),
  );
  return `<link rel="canonical" href="${escapeHtml(canonicalOf(site, page))}">
<link rel="alternate" type="text/markdown" href="${escapeHtml(to(page.markdownPath))}">
${alternates.join('')}`;
}

function brand({ site, local, to }: View): string {
  const { logo, name } = site;
  const image = (path: string, kind: string) => `<img class="${kind}" src="${escapeHtml(to(path))}" alt="">`;
  let images = '';
  if (logo !== null && logo.light === logo.dark) images = image(logo.light, 'logo');
  else if (logo !== null) images = image(logo.light, 'logo on-light') + image(logo.dark, 'logo on-dark');
  const home = local.home?.path ?? 'index.html';
  return `<a class="brand" href="${escapeHtml(to(home))}">${images}<span>${escapeHtml(name)}</span></a>`;
}

function linkBar(view: View): string {
  const { links: written } = view.site;
  if (written.length === 0) return '';
  const links = written.map(
    ({ label, href }) => `<li><a href="${escapeHtml(referenceOf(view, href))}">${escapeHtml(label)}</a></li>`,
  );
  return `<ul class="links">${links.join('')}</ul>\n`;
}

function versionBadge({ site, local }: View): string {
  if (site.version === null) return '';
  const label = `<span class="visually-hidden">${escapeHtml(local.language.words.version)} </span>`;
  return `<span class="badge">${label}${escapeHtml(site.version)}</span>\n`;
}

function languageSwitch({ site, local, page, to }: View): string {
  if (site.languages.length < 2) return '';
  const translations = page === null ? [] : site.translationsOf(page);
  const items = site.languages.flatMap(({ language, home }) => {
    const target = translations.find((each) => each.language === language.code) ?? home;
    if (target === null) return [];
    const code = escapeHtml(language.code);
    const here = language === local.language ? ' aria-current="true"' : '';
    return `<li><a href="${escapeHtml(to(target.path))}" hreflang="${code}" lang="${code}" dir="${language.direction}"${here}>${escapeHtml(language.name)}</a></li>`;
  });
  const label = escapeHtml(local.language.words.language);
  return `<details class="languages"><summary class="icon" aria-label="${label}" title="${label}">${LANGUAGE_ICON}</summary><ul>${items.join('')}</ul></details>\n`;
}

function themeSwitch({ local }: View): string {
  const { colours, light, dark, system } = local.language.words;
  return `<button class="icon theme" type="button" hidden data-label="${escapeHtml(colours)}" data-light="${escapeHtml(light)}" data-dark="${escapeHtml(dark)}" data-system="${escapeHtml(system)}"></button>`;
}

/**
 * Maximum entries of a complete navigation. On a larger site, a page shows only its branch, because complete navigations on all
 * pages would grow with the square of the page count.
 */
const ENTRIES_MAX = 400;
const NEIGHBOURS_MAX = 200;

function layoutNavigation(view: View): string {
  const tree = new NavigationTree(view);
  let html = '';
  let loose: NavigationNode[] = [];
  const listLoose = () => (loose.length > 0 ? tree.list(loose) : '');
  for (const node of tree.shown(view.local.navigation)) {
    if (node.kind === 'group') {
      html += listLoose() + tree.section(node);
      loose = [];
    } else loose.push(node);
  }
  return html + listLoose();
}

function groupTitleOf({ local, page }: View): string | null {
  const search = (nodes: readonly NavigationNode[], title: string | null): string | null | undefined => {
    for (const node of nodes) {
      if (node.kind === 'page' && node.page === page) return title;
      const found = node.kind === 'group' ? search(node.children, node.title) : undefined;
      if (found !== undefined) return found;
    }
    return undefined;
  };
  return search(local.navigation, null) ?? null;
}

type Group = Extract<NavigationNode, { kind: 'group' }>;

class NavigationTree {
  readonly #view: View;
  readonly #isLarge: boolean;

  constructor(view: View) {
    this.#view = view;
    this.#isLarge = view.local.entries > ENTRIES_MAX;
  }

  section(group: Group): string {
    if (this.#isClosed(group)) return `<h2>${this.#linkToFirst(group)}</h2>`;
    return `<h2>${escapeHtml(group.title)}</h2>${this.list(group.children)}`;
  }

  list(nodes: readonly NavigationNode[]): string {
    const shown = this.shown(nodes);
    const more = shown.length < nodes.length ? '<li class="more">…</li>' : '';
    return `<ul>${shown.map((node) => this.#item(node)).join('')}${more}</ul>`;
  }

  #item(node: NavigationNode): string {
    if (node.kind === 'link')
      return `<li><a href="${escapeHtml(referenceOf(this.#view, node.href))}">${escapeHtml(node.title)}</a></li>`;
    if (node.kind === 'page') {
      const { page } = node;
      const here = page === this.#view.page ? ' aria-current="page"' : '';
      const isNew = page.isNew ? ` <span class="tag">${escapeHtml(this.#view.local.language.words.isNew)}</span>` : '';
      return `<li><a href="${escapeHtml(this.#view.to(page.path))}"${here}>${escapeHtml(node.title)}${isNew}</a></li>`;
    }
    if (this.#isClosed(node)) return `<li>${this.#linkToFirst(node)}</li>`;
    const open = this.#holdsPage(node) ? ' open' : '';
    return `<li><details${open}><summary>${escapeHtml(node.title)}</summary>${this.list(node.children)}</details></li>`;
  }

  #linkToFirst(group: Group): string {
    const first = firstPageIn(group.children);
    const title = escapeHtml(group.title);
    return first === null ? title : `<a href="${escapeHtml(this.#view.to(first.path))}">${title}</a>`;
  }

  #isClosed(group: Group): boolean {
    return this.#isLarge && !this.#holdsPage(group);
  }

  #holdsPage(node: NavigationNode): boolean {
    if (node.kind === 'group') return node.children.some((child) => this.#holdsPage(child));
    return node.kind === 'page' && node.page === this.#view.page;
  }

  shown(nodes: readonly NavigationNode[]): readonly NavigationNode[] {
    if (!this.#isLarge || nodes.length <= NEIGHBOURS_MAX) return nodes;
    const at = nodes.findIndex((node) => this.#holdsPage(node));
    const start = Math.max(0, Math.min(at - NEIGHBOURS_MAX / 2, nodes.length - NEIGHBOURS_MAX));
    return nodes.slice(start, start + NEIGHBOURS_MAX);
  }
}
