import MarkdownIt, { type StateCore, type Token } from 'markdown-it';
import anchor from 'markdown-it-anchor';
import type { Words } from '../site/words.ts';
import { makeCallouts, makeTables, makeTasks, renderCode } from './blocks.ts';
import { rewriteTokens } from './references.ts';

interface PageContext {
  readonly words: Words;
  rewrite(reference: string): string | null;
}

interface Heading {
  readonly level: 2 | 3;
  readonly id: string;
  /** Plain text. */
  readonly text: string;
}

export interface RenderedText {
  readonly html: string;
  readonly headings: readonly Heading[];
  /** Plain text of the first paragraph, or null. */
  readonly opening: string | null;
}

export interface MarkdownRenderer {
  render(markdown: string, context: PageContext): RenderedText;
  renderInline(markdown: string, context: PageContext): string;
}

interface Env extends PageContext {
  headings: Heading[];
  opening: string | null;
}

export function createRenderer(): MarkdownRenderer {
  const md = new MarkdownIt({ html: true, linkify: true });
  // A bare `guide.md` is a file here and no address in Moldova.
  md.linkify.set({ fuzzyLink: false, fuzzyEmail: false });
  const envOf = (state: StateCore) => state.env as unknown as Env;
  md.core.ruler.after('block', 'callouts', (state) => {
    state.tokens = makeCallouts(state.tokens, envOf(state).words);
  });
  md.core.ruler.push('tasks', ({ tokens }) => makeTasks(tokens));
  md.use(anchor, {
    level: [1, 2, 3, 4, 5, 6],
    slugify,
    tabIndex: false,
    permalink: anchor.permalink.linkInsideHeader({
      symbol: '#',
      placement: 'after',
      class: 'anchor',
      renderAttrs: (id, state) => ({ 'aria-label': `${(state.env as unknown as Env).words.linkTo} ${id}` }),
    }),
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
    render: (markdown, context) => {
      const env = { ...context, headings: [], opening: null };
      const html = md.render(markdown, env);
      return { html, headings: env.headings, opening: env.opening };
    },
    renderInline: (markdown, context) => md.renderInline(markdown, { ...context, headings: [], opening: null }),
  };
}

/** The fragment of a heading as GitHub makes it, so that links that work in a repository work in the site. */
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
