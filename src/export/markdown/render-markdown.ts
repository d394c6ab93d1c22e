import hljs from 'highlight.js';
import MarkdownIt, { type Token as MarkdownToken, type StateCore } from 'markdown-it';
import anchor from 'markdown-it-anchor';
import { type Token as HtmlToken, Tokenizer } from 'parse5';
import { escapeHtml } from '../../web/escape.ts';
import type { Words } from './languages.ts';

/** Class of a Markdown token, taken from `MarkdownIt`, because markdown-it does not export it. */
const Token: new (type: string, tag: string, nesting: -1 | 0 | 1) => MarkdownToken = MarkdownIt.Token;
type Token = MarkdownToken;

type PageContext = { readonly words: Words; rewrite(reference: string): string | null };

type Heading = { readonly level: 2 | 3; readonly id: string; readonly text: string };

export interface RenderedText {
  /** First heading of the page, which the layout places above the description. */
  readonly title: { readonly html: string; readonly id: string } | null;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly opening: string | null;
}

export type MarkdownRenderer = ReturnType<typeof createRenderer>;

type Env = PageContext & {
  title: Token | null;
  headings: Heading[];
  opening: string | null;
  /** Fragments of the page, each with the last number that docshelf appended to it. */
  readonly fragments: Map<string, number>;
};

export function createRenderer() {
  const md = new MarkdownIt({ html: true, linkify: true });
  // In plain text, link only addresses with a scheme. Otherwise, the file name `guide.md` links to a host in Moldova.
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  const envOf = (state: StateCore) => state.env as unknown as Env;
  md.core.ruler.after('block', 'callouts', (state) => {
    state.tokens = makeCallouts(state.tokens, envOf(state).words);
  });
  md.core.ruler.push('tasks', ({ tokens }) => makeTasks(tokens));
  md.core.ruler.push('title', (state) => {
    const first = state.tokens.find(({ type, content }) => type !== 'html_block' || !/^ *<!--/.test(content));
    envOf(state).title = first?.tag === 'h1' ? first : null;
  });
  const permalink = anchor.permalink.linkInsideHeader({
    symbol: '#',
    placement: 'after',
    class: 'anchor',
    renderAttrs: (id, state) => ({ 'aria-label': `${(state.env as unknown as Env).words.linkTo} ${id}` }),
  });
  md.use(anchor, {
    level: [1, 2, 3, 4, 5, 6],
    slugifyWithState: (title, { env }) => uniqueFragment(slugify(title), env as unknown as Env),
    tabIndex: false,
    permalink: (id, options, state, index) => {
      if (state.tokens[index] !== (state.env as unknown as Env).title) permalink(id, options, state, index);
    },
  });
  md.core.ruler.push('facts', (state) => {
    const env = envOf(state);
    env.headings.push(...headingsOf(state.tokens));
    env.opening = openingOf(state.tokens);
  });
  md.core.ruler.push('tables', ({ tokens, env }) => makeTables(tokens, (env as unknown as Env).words));
  md.core.ruler.push('references', (state) => rewriteTokens(state.tokens, (url) => envOf(state).rewrite(url)));
  md.renderer.rules.fence = (tokens, index) => {
    const { content, info } = tokens[index] as Token;
    return renderCode(content, info);
  };
  md.renderer.rules.code_block = (tokens, index) => renderCode((tokens[index] as Token).content, '');

  return {
    render: (markdown: string, context: PageContext): RenderedText => {
      const env: Env = { ...context, title: null, headings: [], opening: null, fragments: new Map() };
      const tokens = md.parse(markdown, env);
      const write = (written: Token[]): string => md.renderer.render(written, md.options, env);
      const [heading, text] = env.title === null ? [] : tokens.splice(tokens.indexOf(env.title), 3);
      const title =
        heading === undefined || text === undefined ? null : { html: write([text]), id: `${heading.attrGet('id')}` };
      return { title, html: write(tokens), headings: env.headings, opening: env.opening };
    },
  };
}

/** Appends a number to a repeated fragment: the last number plus one, because trying all took a minute for 20,000 headings. */
function uniqueFragment(fragment: string, { fragments }: Env): string {
  let number = fragments.get(fragment) ?? 0;
  let unique = fragment;
  for (; fragments.has(unique); unique = `${fragment}-${number}`) number += 1;
  fragments.set(unique, 0).set(fragment, number);
  return unique;
}

/** Creates the fragment of a heading by GitHub's algorithm, so that links that work in a repository also work in the site. */
export function slugify(title: string): string {
  const slug = title
    .trim()
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{Pc}\- ]/gu, '')
    .replaceAll(' ', '-');
  return slug || 'section';
}

function headingsOf(tokens: readonly Token[]): readonly Heading[] {
  return tokens.flatMap((token, index): readonly Heading[] => {
    if (token.type !== 'heading_open' || token.level !== 0 || !/^h[23]$/.test(token.tag)) return [];
    const id = String(token.attrGet('id') ?? '');
    return [{ level: token.tag === 'h2' ? 2 : 3, id, text: plainText(tokens[index + 1]) }];
  });
}

function openingOf(tokens: readonly Token[]): string | null {
  const at = tokens.findIndex(({ type, level }) => type === 'paragraph_open' && level === 0);
  return at === -1 ? null : plainText(tokens[at + 1]) || null;
}

function plainText(inline: Token | undefined): string {
  const words = (inline?.children ?? []).map(({ type, content }) =>
    type === 'text' || type === 'code_inline' ? content : type === 'softbreak' || type === 'hardbreak' ? ' ' : '',
  );
  return words.join('').trim();
}

const BOX = /^\[([ xX])\][ \t]+/;

function makeTasks(tokens: readonly Token[]): void {
  for (const [index, token] of tokens.entries()) {
    const inline = tokens[index + 2];
    if (token.type !== 'list_item_open' || tokens[index + 1]?.type !== 'paragraph_open' || inline === undefined)
      continue;
    const first = inline.children?.[0];
    const box = first?.type === 'text' ? BOX.exec(first.content) : null;
    if (first === undefined || box === null) continue;
    first.content = first.content.slice(box[0].length);
    const input = new Token('html_inline', '', 0);
    input.content = `<input type="checkbox" disabled${box[1] === ' ' ? '' : ' checked'}> `;
    inline.children?.unshift(input);
    token.attrJoin('class', 'task');
  }
}

const CODE_WORD = /^`([A-Za-z][A-Za-z0-9_.-]*)`$/;
const ALIGNMENT = /text-align:\s*(left|center|right)/;

/** Writes the alignment of table cells as classes. If the first cell of a row is one code word, that word becomes the row's id. */
function makeTables(tokens: Token[], words: Words): void {
  const taken = new Set(tokens.map((token) => token.attrGet('id')).filter((id) => id !== null));
  for (const [index, token] of tokens.entries()) {
    if (token.type === 'th_open' || token.type === 'td_open') alignByClass(token);
    if (token.type !== 'tr_open' || tokens[index + 1]?.type !== 'td_open') continue;
    const word = CODE_WORD.exec(tokens[index + 2]?.content ?? '')?.[1];
    if (word === undefined || taken.has(word)) continue;
    taken.add(word);
    token.attrSet('id', word);
  }
  for (let index = tokens.length - 1; index >= 0; index--) {
    const type = tokens[index]?.type;
    if (type === 'table_open') {
      tokens.splice(index, 0, html(`<div class="table" role="region" aria-label="${words.table}" tabindex="0">\n`));
    } else if (type === 'table_close') tokens.splice(index + 1, 0, html('</div>\n'));
  }
}

function alignByClass(cell: Token): void {
  const alignment = ALIGNMENT.exec(String(cell.attrGet('style') ?? ''))?.[1];
  if (alignment === undefined) return;
  cell.attrs = (cell.attrs ?? []).filter(([name]) => name !== 'style');
  cell.attrSet('class', `align-${alignment}`);
}

const html = (content: string): Token => Object.assign(new Token('html_block', '', 0), { content });

const MARK = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*([^\n]*)(?:\n|$)/i;

const ICONS = {
  note: 'M10 9.200v4.600M10 6.300v.1M17.500 10a7.500 7.500 0 1 1-15 0 7.500 7.500 0 0 1 15 0Z',
  tip: 'M7.500 14h5M8.300 17h3.400M10 3a5 5 0 0 0-3 9c.4.4.5 1 .5 2h5c0-1 .1-1.600.5-2a5 5 0 0 0-3-9Z',
  important: 'M3 4.500h14v9.500H9.500L6 17v-3H3ZM10 6.800v3M10 11.800v.1',
  warning: 'M10 3.200 18 16.800H2ZM10 8.200v3.800M10 14.200v.1',
  caution: 'M7 2.800h6l4.200 4.200v6L13 17.200H7L2.800 13V7ZM10 6.500v4.500M10 13.400v.1',
};
type Kind = keyof typeof ICONS;

function makeCallouts(tokens: readonly Token[], words: Words): Token[] {
  const made: Token[] = [];
  const open: boolean[] = [];
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at] as Token;
    made.push(token);
    if (token.type === 'blockquote_close') token.tag = open.pop() === true ? 'div' : token.tag;
    if (token.type !== 'blockquote_open') continue;
    const [paragraph, text, end] = tokens.slice(at + 1, at + 4);
    const mark = paragraph?.type === 'paragraph_open' && text !== undefined ? MARK.exec(text.content) : null;
    open.push(mark !== null);
    if (mark === null || text === undefined) continue;
    const kind = (mark[1] as string).toLowerCase() as Kind;
    token.tag = 'div';
    token.attrSet('class', `callout ${kind}`);
    token.attrSet('role', 'note');
    made.push(...titleTokens(kind, mark[2]?.trim() || words[kind], token.level + 1));
    text.content = text.content.slice(mark[0].length);
    if (text.content.trim() === '' && end?.type === 'paragraph_close') at += 3;
  }
  return made;
}

function titleTokens(kind: Kind, title: string, level: number): readonly Token[] {
  const svg = `<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${ICONS[kind]}"/></svg>`;
  const text = Object.assign(new Token('inline', '', 0), { content: title, children: [], level });
  return [html(`<p class="callout-title">${svg}`), text, html('</p>\n')];
}

const HIGHLIGHTED_LENGTH_MAX = 100_000;
const TITLE = /(?:^|\s)(?:title|filename)=(?:"([^"]*)"|'([^']*)'|(\S+))/;

function renderCode(code: string, info: string): string {
  const language = /^[^\s{,:]+/.exec(info.trim())?.[0]?.replace(/^\./, '') ?? '';
  const [, quoted, single, bare] = TITLE.exec(info) ?? [];
  const title = quoted ?? single ?? bare ?? '';
  const name = title === '' ? '' : `<p class="code-title">${escapeHtml(title)}</p>`;
  return `<div class="code" data-language="${escapeHtml(language)}">${name}<pre tabindex="0"><code>${highlight(code, language)}</code></pre></div>\n`;
}

function highlight(code: string, language: string): string {
  if (code.length > HIGHLIGHTED_LENGTH_MAX || hljs.getLanguage(language) === undefined) return escapeHtml(code);
  return hljs.highlight(code, { language, ignoreIllegals: true }).value;
}

type Rewrite = (reference: string) => string | null;

function rewriteTokens(tokens: readonly Token[], rewrite: Rewrite): void {
  for (const token of tokens) {
    if (token.type === 'html_block') token.content = rewriteHtml(token.content, rewrite);
    else if (token.children !== null) token.children = rewriteInline(token.children, rewrite);
  }
}

function rewriteInline(children: readonly Token[], rewrite: Rewrite): Token[] {
  let isDropped = false;
  return children.filter((token) => {
    if (token.type === 'link_open') {
      const reference = rewrite(String(token.attrGet('href') ?? ''));
      isDropped = reference === null;
      if (reference !== null) token.attrSet('href', reference);
      return !isDropped;
    }
    if (token.type === 'link_close' && isDropped) {
      isDropped = false;
      return false;
    }
    if (token.type === 'image') {
      token.attrSet('src', rewrite(String(token.attrGet('src') ?? '')) ?? '');
      token.attrSet('loading', 'lazy');
    } else if (token.type === 'html_inline') token.content = rewriteHtml(token.content, rewrite);
    return true;
  });
}

const REFERRING = new Set(
  'a:href area:href audio:src embed:src iframe:src image:href img:src object:data source:src track:src video:src video:poster'.split(
    ' ',
  ),
);
const MAY_REFER = /(?:href|src|data|poster)\s*=/i;

function rewriteHtml(html: string, rewrite: Rewrite): string {
  if (!MAY_REFER.test(html)) return html;
  const pieces: string[] = [];
  let end = 0;
  const onStartTag = (tag: HtmlToken.TagToken): void => {
    for (const { name, value } of tag.attrs) {
      const place = tag.location?.attrs?.[name];
      if (place === undefined || !REFERRING.has(`${tag.tagName}:${name}`)) continue;
      const reference = rewrite(value.trim());
      if (reference === value.trim()) continue;
      const attribute = reference === null ? '' : `${name}="${escapeHtml(reference)}"`;
      pieces.push(html.slice(end, place.startOffset), attribute);
      end = place.endOffset;
    }
  };
  const ignore = () => {};
  const ignoreOthers = { onEndTag: ignore, onComment: ignore, onDoctype: ignore, onEof: ignore };
  const ignoreText = { onCharacter: ignore, onNullCharacter: ignore, onWhitespaceCharacter: ignore };
  new Tokenizer({ sourceCodeLocationInfo: true }, { onStartTag, ...ignoreOthers, ...ignoreText }).write(html, true);
  return pieces.join('') + html.slice(end);
}
