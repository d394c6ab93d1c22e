import type { Words } from '../site/words.ts';
import { Token } from './token.ts';

const KINDS = ['note', 'tip', 'important', 'warning', 'caution'] as const;
type Kind = (typeof KINDS)[number];

/** The first line of a callout as GitHub writes it; what stands behind the mark is a title of its own. */
const MARK = /^\[!(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\][ \t]*([^\n]*)(?:\n|$)/i;

const ICONS: Readonly<Record<Kind, string>> = {
  note: 'M10 9.200v4.600M10 6.300v.1M17.500 10a7.500 7.500 0 1 1-15 0 7.500 7.500 0 0 1 15 0Z',
  tip: 'M7.500 14h5M8.300 17h3.400M10 3a5 5 0 0 0-3 9c.4.4.5 1 .5 2h5c0-1 .1-1.600.5-2a5 5 0 0 0-3-9Z',
  important: 'M3 4.500h14v9.500H9.500L6 17v-3H3ZM10 6.800v3M10 11.800v.1',
  warning: 'M10 3.200 18 16.800H2ZM10 8.200v3.800M10 14.200v.1',
  caution: 'M7 2.800h6l4.200 4.200v6L13 17.200H7L2.800 13V7ZM10 6.500v4.500M10 13.400v.1',
};

/** Turns quotations that begin with `[!NOTE]` and the like into notes with a title. Runs before inline text is parsed. */
export function makeCallouts(tokens: readonly Token[], words: Words): Token[] {
  const made: Token[] = [];
  /** For each quotation that is open, whether it is a callout. */
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
    // A paragraph of nothing but the mark is gone with it.
    if (text.content.trim() === '' && end?.type === 'paragraph_close') at += 3;
  }
  return made;
}

function titleTokens(kind: Kind, title: string, level: number): readonly Token[] {
  const icon = new Token('html_block', '', 0);
  icon.content = `<p class="callout-title"><svg viewBox="0 0 20 20" aria-hidden="true"><path d="${ICONS[kind]}"/></svg>`;
  const text = new Token('inline', '', 0);
  text.content = title;
  text.children = [];
  text.level = level;
  const end = new Token('html_block', '', 0);
  end.content = '</p>\n';
  return [icon, text, end];
}
