import hljs from 'highlight.js';
import type { Token as MarkdownToken } from 'markdown-it';
import MarkdownIt from 'markdown-it';
import { escapeHtml } from '../../../web/escape.ts';
import type { Words } from '../site/words.ts';

/** markdown-it's own class, which rules make new tokens of. */
export const Token: new (type: string, tag: string, nesting: -1 | 0 | 1) => MarkdownToken = MarkdownIt.Token;
export type Token = MarkdownToken;

const BOX = /^\[([ xX])\][ \t]+/;

/** Turns list items that begin with `[ ]` or `[x]` into items with a checkbox (GitHub Flavored Markdown, section 5.3). */
export function makeTasks(tokens: readonly Token[]): void {
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

/** Lets wide tables scroll, says alignment by classes, and gives a row whose first cell is one code word that id. */
export function makeTables(tokens: Token[], words: Words): void {
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

function html(content: string): Token {
  return Object.assign(new Token('html_block', '', 0), { content });
}

/** The first line of a callout as GitHub writes it; text behind the mark is its title. */
const MARK = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*([^\n]*)(?:\n|$)/i;

const ICONS = {
  note: 'M10 9.200v4.600M10 6.300v.1M17.500 10a7.500 7.500 0 1 1-15 0 7.500 7.500 0 0 1 15 0Z',
  tip: 'M7.500 14h5M8.300 17h3.400M10 3a5 5 0 0 0-3 9c.4.4.5 1 .5 2h5c0-1 .1-1.600.5-2a5 5 0 0 0-3-9Z',
  important: 'M3 4.500h14v9.500H9.500L6 17v-3H3ZM10 6.800v3M10 11.800v.1',
  warning: 'M10 3.200 18 16.800H2ZM10 8.200v3.800M10 14.200v.1',
  caution: 'M7 2.800h6l4.200 4.200v6L13 17.200H7L2.800 13V7ZM10 6.500v4.500M10 13.400v.1',
};
type Kind = keyof typeof ICONS;

/** Turns quotations that begin with `[!NOTE]` and the like into notes with a title. Runs before inline text is parsed. */
export function makeCallouts(tokens: readonly Token[], words: Words): Token[] {
  const made: Token[] = [];
  /** For each open quotation: true for a callout. */
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
    // A paragraph that holds only the mark goes too.
    if (text.content.trim() === '' && end?.type === 'paragraph_close') at += 3;
  }
  return made;
}

function titleTokens(kind: Kind, title: string, level: number): readonly Token[] {
  const svg = `<svg viewBox="0 0 20 20" aria-hidden="true"><path d="${ICONS[kind]}"/></svg>`;
  const text = Object.assign(new Token('inline', '', 0), { content: title, children: [], level });
  return [html(`<p class="callout-title">${svg}`), text, html('</p>\n')];
}

/** UTF-16 code units. Longer code is data, for which some grammars take seconds. */
const HIGHLIGHTED_LENGTH_MAX = 100_000;
const TITLE = /(?:^|\s)(?:title|filename)=(?:"([^"]*)"|'([^']*)'|(\S+))/;

/** A block of code with the classes of highlight.js, which the theme colours. @param info the text behind the fence */
export function renderCode(code: string, info: string): string {
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
