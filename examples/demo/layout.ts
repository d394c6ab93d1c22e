import type { RenderedMarkdown } from './markdown.ts';
import { GROUPS, type Page } from './pages.ts';

/** What every document of one version of the manual shares. */
export interface Manual {
  readonly version: string;
  /** Where the site says it lives, for canonical addresses; `.example` never resolves (RFC 2606). */
  readonly origin: string;
  readonly pages: readonly Page[];
  /** Addresses of the shared files, relative to the site's root. */
  readonly assets: { readonly css: string; readonly js: string; readonly icon: string };
}

const escapeHtml = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

export const addressOf = (slug: string) => `${slug}.html`;
/** The address without extension, which canonical links and the sitemap use. */
export const canonicalOf = (manual: Manual, slug: string) => `${manual.origin}/${slug === 'index' ? '' : slug}`;

const MARK = `<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false"><rect x="4" y="6" width="6" height="19" rx="1.5"/><rect x="11.5" y="9" width="5" height="16" rx="1.5" class="soft"/><rect x="18.6" y="7.4" width="5.6" height="18" rx="1.5" transform="rotate(-13 21.4 25)"/><rect x="2" y="26.5" width="28" height="2.5" rx="1.25" class="ink"/></svg>`;

interface DocumentParts {
  readonly title: string;
  readonly description: string;
  readonly canonical: string | null;
  /** What addresses of the site begin with: empty, or `/` for a document that answers at any depth. */
  readonly base: string;
  readonly current: string | null;
  readonly main: string;
  readonly aside: string;
}

function navigation(manual: Manual, base: string, current: string | null): string {
  const groups = GROUPS.map((group) => {
    const links = manual.pages
      .filter((page) => page.group === group)
      .map((page) => {
        const here = page.slug === current ? ' aria-current="page"' : '';
        const isNew = page.since === manual.version ? ' <span class="tag">New</span>' : '';
        return `<li><a href="${base}${addressOf(page.slug)}"${here}>${escapeHtml(page.slug === 'index' ? 'Overview' : page.title)}${isNew}</a></li>`;
      });
    return `<h2>${group}</h2><ul>${links.join('')}</ul>`;
  });
  return groups.join('');
}

function documentOf(manual: Manual, parts: DocumentParts): string {
  const { base } = parts;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(parts.title)}</title>
<meta name="description" content="${escapeHtml(parts.description)}">
<meta name="color-scheme" content="light dark">
${parts.canonical === null ? '<meta name="robots" content="noindex">' : `<link rel="canonical" href="${escapeHtml(parts.canonical)}">`}
<link rel="icon" href="${base}${manual.assets.icon}" type="image/svg+xml">
<link rel="stylesheet" href="${base}${manual.assets.css}">
<script src="${base}${manual.assets.js}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to content</a>
<header class="top">
<button class="icon menu" type="button" popovertarget="navigation" aria-label="Navigation"><svg viewBox="0 0 20 20" aria-hidden="true"><path d="M3 5.5h14M3 10h14M3 14.5h14"/></svg></button>
<a class="brand" href="${base}index.html">${MARK}<span>docshelf</span></a>
<a class="badge" href="${base}index.html#whats-new"><span class="visually-hidden">Version </span>${escapeHtml(manual.version)}</a>
<button class="icon theme" type="button" hidden></button>
</header>
<div class="frame">
<nav class="navigation" id="navigation" popover aria-label="Manual">${navigation(manual, base, parts.current)}</nav>
<main id="content" tabindex="-1">
${parts.main}
</main>
${parts.aside}
</div>
</body>
</html>
`;
}

function tableOfContents({ headings }: RenderedMarkdown): string {
  if (headings.length < 2) return '<aside class="contents"></aside>';
  const links = headings.map(
    ({ id, level, text }) => `<li class="level-${level}"><a href="#${id}">${escapeHtml(text)}</a></li>`,
  );
  return `<aside class="contents"><nav aria-labelledby="contents-title"><h2 id="contents-title">On this page</h2><ul>${links.join('')}</ul></nav></aside>`;
}

/** What tells this version from the one before; the reader sees it change with the pin. */
function whatsNew(manual: Manual): string {
  const added = manual.pages.filter(({ since }) => since === manual.version);
  const body =
    added.length === 0
      ? `<p>The first edition of this manual, with ${manual.pages.length} pages.</p>`
      : `<ul>${added.map((page) => `<li><a href="${addressOf(page.slug)}">${escapeHtml(page.title)}</a> ${escapeHtml(page.description)}</li>`).join('')}</ul>`;
  return `<section class="whats-new" id="whats-new" aria-labelledby="whats-new-title"><h2 id="whats-new-title">What’s new in ${escapeHtml(manual.version)}</h2>${body}</section>`;
}

function pager(manual: Manual, page: Page): string {
  const at = manual.pages.indexOf(page);
  const link = (target: Page | undefined, rel: 'prev' | 'next', label: string) =>
    target === undefined
      ? '<span></span>'
      : `<a rel="${rel}" class="${rel}" href="${addressOf(target.slug)}"><span>${label}</span>${escapeHtml(target.slug === 'index' ? 'Overview' : target.title)}</a>`;
  return `<nav class="pager" aria-label="Previous and next page">${link(manual.pages[at - 1], 'prev', 'Previous')}${link(manual.pages[at + 1], 'next', 'Next')}</nav>`;
}

const ACTIONS =
  '<p class="actions"><a class="button" href="#quick-start">Quick start</a><a class="button quiet" href="air-gap.html">Behind an air gap</a></p>';

const footer = (manual: Manual) =>
  `<footer>The docshelf manual, version ${escapeHtml(manual.version)}. Served from a bundle, by docshelf.</footer>`;

/** One page of the manual as a whole HTML document. */
export function layoutPage(manual: Manual, page: Page, rendered: RenderedMarkdown): string {
  const isHome = page.slug === 'index';
  const lead = page.description === '' ? '' : `<p class="lead">${escapeHtml(page.description)}</p>`;
  const head = `<header class="title">${isHome ? '' : `<p class="group">${page.group}</p>`}<h1>${escapeHtml(page.title)}</h1>${lead}${isHome ? ACTIONS : ''}</header>`;
  const body = `<article${isHome ? ' class="home"' : ''}>${head}${isHome ? whatsNew(manual) : ''}${rendered.html}</article>`;
  return documentOf(manual, {
    title: isHome ? 'docshelf: the manual' : `${page.title} · docshelf`,
    description: page.description || page.title,
    canonical: canonicalOf(manual, page.slug),
    base: '',
    current: page.slug,
    main: `${body}${pager(manual, page)}${footer(manual)}`,
    aside: tableOfContents(rendered),
  });
}

/** The page for what is not there. It answers at any depth, so its addresses begin at the root. */
export function layoutNotFound(manual: Manual): string {
  return documentOf(manual, {
    title: 'Page not found · docshelf',
    description: 'There is no such page in this version of the manual.',
    canonical: null,
    base: '/',
    current: null,
    main: `<article class="not-found"><header class="title"><p class="group">404</p><h1>Not on this shelf</h1><p class="lead">Version ${escapeHtml(manual.version)} of the manual has no such page. Another version may have it.</p></header><p><a class="button" href="/index.html">To the overview</a></p></article>${footer(manual)}`,
    aside: '<aside class="contents"></aside>',
  });
}

/** sitemap.xml (sitemaps.org, 0.9) with the canonical addresses. */
export function layoutSitemap(manual: Manual): string {
  const urls = manual.pages.map(({ slug }) => `<url><loc>${escapeHtml(canonicalOf(manual, slug))}</loc></url>`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('\n')}\n</urlset>\n`;
}
