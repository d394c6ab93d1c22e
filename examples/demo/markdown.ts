import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import json from 'highlight.js/lib/languages/json';
import yaml from 'highlight.js/lib/languages/yaml';
import MarkdownIt, { type Token } from 'markdown-it';
import anchor from 'markdown-it-anchor';

hljs.registerLanguage('sh', bash);
hljs.registerLanguage('json', json);
hljs.registerLanguage('yaml', yaml);

export interface Heading {
  readonly level: 2 | 3;
  readonly id: string;
  /** Plain text. */
  readonly text: string;
}

export interface RenderedMarkdown {
  readonly html: string;
  readonly headings: readonly Heading[];
}

/** Where a link to another page of the manual leads: its address, or null where this version has no such page. */
export type PageLink = (slug: string) => string | null;

const PAGE_LINK = /^([a-z0-9-]+)\.md(#.*)?$/;
const CODE_WORD = /^`([a-z][a-z0-9_]*)`$/;

/** Renders one page. A table row whose first cell is one code word gets that word as its id, so that it can be linked. */
export function renderMarkdown(markdown: string, linkTo: PageLink): RenderedMarkdown {
  const md = new MarkdownIt({ html: false });
  const headings: Heading[] = [];
  md.use(anchor, {
    level: [2, 3],
    slugify,
    tabIndex: false,
    permalink: anchor.permalink.linkInsideHeader({
      symbol: '#',
      placement: 'after',
      class: 'anchor',
      renderAttrs: (id: string) => ({ 'aria-label': `Link to ${id}` }),
    }),
    callback: (token: Token, { slug, title }: { slug: string; title: string }) => {
      headings.push({ level: token.tag === 'h2' ? 2 : 3, id: slug, text: title });
    },
  });
  md.core.ruler.push('page_links', ({ tokens }) => {
    for (const token of tokens) if (token.type === 'inline') linkPages(token, linkTo);
  });
  md.core.ruler.push('row_ids', ({ tokens }) => nameRows(tokens, new Set(headings.map(({ id }) => id))));
  md.renderer.rules.table_open = () => '<div class="table" role="region" aria-label="Table" tabindex="0"><table>\n';
  md.renderer.rules.table_close = () => '</table></div>\n';
  md.renderer.rules.fence = (tokens, index) => {
    const { content, info } = tokens[index] as Token;
    const language = info.trim();
    return `<div class="code" data-language="${md.utils.escapeHtml(language)}"><pre tabindex="0"><code>${highlight(content, language, md.utils.escapeHtml)}</code></pre></div>\n`;
  };
  return { html: md.render(markdown), headings };
}

/** Words joined by hyphens, without punctuation: an id that needs no escaping in an address. */
function slugify(title: string): string {
  const words = title.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? [];
  return words.join('-');
}

function highlight(code: string, language: string, escapeHtml: (text: string) => string): string {
  return hljs.getLanguage(language) === undefined ? escapeHtml(code) : hljs.highlight(code, { language }).value;
}

/** Turns links to `other.md` into links to the rendered page; a link to a page that this version lacks becomes its text. */
function linkPages(inline: Token, linkTo: PageLink): void {
  let isDropped = false;
  inline.children = (inline.children ?? []).filter((token) => {
    if (token.type === 'link_open') {
      const [, slug, fragment = ''] = PAGE_LINK.exec(String(token.attrGet('href'))) ?? [];
      if (slug === undefined) return true;
      const target = linkTo(slug);
      isDropped = target === null;
      token.attrSet('href', `${target}${fragment}`);
      return !isDropped;
    }
    if (token.type !== 'link_close' || !isDropped) return true;
    isDropped = false;
    return false;
  });
}

function nameRows(tokens: readonly Token[], taken: Set<string>): void {
  for (const [index, token] of tokens.entries()) {
    if (token.type !== 'tr_open' || tokens[index + 1]?.type !== 'td_open') continue;
    const word = CODE_WORD.exec(tokens[index + 2]?.content ?? '')?.[1];
    if (word === undefined || taken.has(word)) continue;
    taken.add(word);
    token.attrSet('id', word);
  }
}
