import { type Token, Tokenizer } from 'parse5';

/** Where a page's metas are. */
const HEAD_BYTES_MAX = 64 * 1024;
/** What stands in the name of such a meta, in the ways that people write it. */
const MARKS = ['obots', 'OBOTS', 'docshelf'];
const NO_FOLLOW = /(?:^|[\s,])(?:nofollow|none)(?:$|[\s,])/i;

/** Whether what robots are told forbids to follow links: the value of an `X-Robots-Tag` or of a meta. */
export function saysNoFollow(directives: string): boolean {
  return NO_FOLLOW.test(directives);
}

/** Whether a page's `<meta name="robots">` (or `docshelf`) forbids to follow its links. */
export function isNoFollowPage(bytes: Uint8Array): boolean {
  const start = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, HEAD_BYTES_MAX));
  // Most pages say nothing, and need no tokenizer.
  if (!MARKS.some((mark) => start.includes(mark))) return false;
  const head = start.toString('latin1');
  if (!/nofollow|none/i.test(head)) return false;
  let isNoFollow = false;
  const onStartTag = ({ tagName, attrs }: Token.TagToken): void => {
    if (tagName !== 'meta') return;
    const textOf = (name: string): string => attrs.find((attribute) => attribute.name === name)?.value ?? '';
    if (/^\s*(?:robots|docshelf)\s*$/i.test(textOf('name')) && saysNoFollow(textOf('content'))) isNoFollow = true;
  };
  const ignore = (): void => undefined;
  const tokenizer = new Tokenizer(
    {},
    {
      onStartTag,
      onEndTag: ignore,
      onCharacter: ignore,
      onWhitespaceCharacter: ignore,
      onNullCharacter: ignore,
      onComment: ignore,
      onDoctype: ignore,
      onEof: ignore,
    },
  );
  tokenizer.write(head, true);
  return isNoFollow;
}
