import { type Token as HtmlToken, Tokenizer } from 'parse5';
import { escapeHtml } from '../../../web/escape.ts';
import type { Token } from './blocks.ts';

type Rewrite = (reference: string) => string | null;

/** Rewrites references of links, pictures and raw HTML. A link without a target becomes its text. */
export function rewriteTokens(tokens: readonly Token[], rewrite: Rewrite): void {
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

/** Rewrites references in a piece of HTML, in place: all other characters stay as they are. */
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
