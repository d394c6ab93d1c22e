import { parse } from 'parse5';

const WORD = /[\p{L}\p{N}]+/gu;

/** Elements whose text no reader with scripts sees. */
const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'title', 'textarea', 'iframe', 'template']);

interface TreeNode {
  readonly nodeName: string;
  readonly value?: string;
  readonly childNodes?: readonly TreeNode[];
  readonly content?: TreeNode;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
}

/** Without line breaks, which depend on the width of a font. */
export function normalText(text: string): string {
  return text.normalize('NFC').replace(/\s+/g, ' ').trim();
}

/** Occurrences by word, in NFKC and lower case. */
export function countWords(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const [word] of text.normalize('NFKC').toLowerCase().matchAll(WORD))
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

export function countMissing(text: ReadonlyMap<string, number>, within: ReadonlyMap<string, number>): number {
  let missing = 0;
  for (const [word, count] of text) missing += Math.max(0, count - (within.get(word) ?? 0));
  return missing;
}

export function sumOf(counts: ReadonlyMap<string, number>): number {
  return counts.values().reduce((sum, count) => sum + count, 0);
}

/** Their ends may part no words: highlighted code, long names. */
const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo button cite code data del dfn em font i img ins kbd label link mark meta q s samp script small span strong style sub sup svg template time u var wbr'.split(
    ' ',
  ),
);

/** Hidden text counts. Only styles could tell whether two elements within a line part words: both readings count. */
export function countWordsOfHtml(html: string): Map<string, number> {
  const document = parse(html) as unknown as TreeNode;
  const counts = countWords(textOf(document, true));
  for (const [word, count] of countWords(textOf(document, false)))
    counts.set(word, Math.max(count, counts.get(word) ?? 0));
  return counts;
}

const BREAK: TreeNode = { nodeName: 'br' };

/** @param parts true where ends of elements within a line part words */
function textOf(document: TreeNode, parts: boolean): string {
  const texts: string[] = [];
  // No recursion: documents may be nested deeply.
  const waiting: TreeNode[] = [document];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (node.nodeName === '#text') texts.push(node.value ?? '');
    if (parts || (node.nodeName !== '#text' && !INLINE.has(node.nodeName))) texts.push(' ');
    const isShadow = node.attrs?.some(({ name }) => name === 'shadowrootmode') ?? false;
    if (isShadow && node.content !== undefined) waiting.push(node.content);
    if (UNSEEN.has(node.nodeName)) continue;
    const children = node.childNodes ?? [];
    if (children.length > 0 && !INLINE.has(node.nodeName)) waiting.push(BREAK);
    for (let at = children.length - 1; at >= 0; at--) waiting.push(children[at] as TreeNode);
  }
  return texts.join('');
}
