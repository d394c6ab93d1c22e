import { escapeHtml } from '../../../web/escape.ts';
import { layoutNavigation } from './navigation.ts';
import { canonicalOf, referenceOf, type View } from './view.ts';

interface DocumentParts {
  readonly title: string;
  readonly description: string | null;
  readonly main: string;
  readonly aside: string;
}

const MENU_ICON = '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5.5h14M3 10h14M3 14.5h14"/></svg>';
const LANGUAGE_ICON =
  '<svg viewBox="0 0 20 20" aria-hidden="true"><path d="M17.500 10a7.500 7.500 0 1 1-15 0 7.500 7.500 0 0 1 15 0ZM2.500 10h15M10 2.500c2 2 3 4.600 3 7.500s-1 5.500-3 7.500c-2-2-3-4.600-3-7.500s1-5.500 3-7.500Z"/></svg>';

/**
 * Place for the search box that docshelf adds to pages. It follows the empty space: the box shrinks that space and moves nothing else.
 * Empty if another server serves the site, or scripts are off.
 */
const SEARCH_ROOM = '<span class="search" data-docshelf-search></span>';

export function layoutDocument(view: View, parts: DocumentParts): string {
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
  // A 404 page is shown below any path, also one that it was not made for: it loads nothing.
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
<link rel="alternate" type="text/markdown" href="${escapeHtml(to(page.twin))}">
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

/** In the header, and on a phone, which lacks the width, in the menu. */
function versionBadge({ site, local }: View): string {
  if (site.version === null) return '';
  const label = `<span class="visually-hidden">${escapeHtml(local.language.words.version)} </span>`;
  return `<span class="badge">${label}${escapeHtml(site.version)}</span>\n`;
}

/** Links to the page in the other languages, or to a language's first page where it has none. */
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
