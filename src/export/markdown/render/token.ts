import MarkdownIt, { type Token as MarkdownToken } from 'markdown-it';

/** markdown-it's own class, which rules make new tokens of. */
export const Token: new (type: string, tag: string, nesting: -1 | 0 | 1) => MarkdownToken = MarkdownIt.Token;
export type Token = MarkdownToken;
