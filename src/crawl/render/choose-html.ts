import { type DefaultTreeAdapterTypes, parse, type Token } from 'parse5';
import type { RenderSettings } from '../../domain/crawl.ts';
import type { BrowserPage } from './rendered-page.ts';

/** The export uses the original HTML if it lacks at most this share of the rendered words. Scripts often add buttons or dates. */
const MISSING_SHARE_FREE = 0.1;
const MISSING_SHARE_MAX = 0.3;
/**
 * The original HTML may lack up to MISSING_SHARE_MAX of the rendered words if fewer words than this are missing, such as those of
 * a menu.
 */
const MISSING_WORDS_MAX = 100;

/** Chooses the original HTML, unless it lacks many words of the rendered page. The order of words does not matter. */
export function chooseHtml(original: string, { dom }: Pick<BrowserPage, 'dom'>, scripts: RenderSettings['scripts']) {
  if (dom === null) return { kind: 'original' } as const;
  const seen = countWordsOf(dom.text);
  const total = seen.values().reduce((sum, count) => sum + count, 0);
  const missing = countMissing(seen, countWordsOfHtml(original));
  const share = total === 0 ? 0 : missing / total;
  const isOwn = share <= MISSING_SHARE_FREE || (share <= MISSING_SHARE_MAX && missing < MISSING_WORDS_MAX);
  if (isOwn) return { kind: 'original' } as const;
  return { kind: 'settled', html: scripts === 'drop' ? dropScripts(dom.html) : dom.html } as const;
}

const WORD = /[\p{L}\p{N}]+/gu;

/** Elements whose text is invisible in a browser with scripts. */
const UNSEEN: ReadonlySet<string> = new Set(['script', 'style', 'noscript', 'title', 'textarea', 'iframe', 'template']);

const countWordsOf = (text: string): Map<string, number> =>
  countWords(text.normalize('NFKC').toLowerCase().match(WORD) ?? []);

export function countWords(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Number of words of `text` that `within` lacks. A word that occurs twice counts twice. */
export function countMissing(text: ReadonlyMap<string, number>, within: ReadonlyMap<string, number>): number {
  let missing = 0;
  for (const [word, count] of text) missing += Math.max(0, count - (within.get(word) ?? 0));
  return missing;
}

const INLINE: ReadonlySet<string> = new Set(
  'a abbr b bdi bdo button cite code data del dfn em font i img ins kbd label link mark meta q s samp script small span strong style sub sup svg template time u var wbr'.split(
    ' ',
  ),
);

/**
 * Counts the words of all text, even if hidden. Uses the higher of two counts, with and without breaks at inline elements,
 * because only styles decide whether an inline element separates two words.
 */
function countWordsOfHtml(html: string): Map<string, number> {
  const document = parse(html) as unknown as TreeNode;
  const counts = countWordsOf(textOf(document, true));
  for (const [word, count] of countWordsOf(textOf(document, false)))
    counts.set(word, Math.max(count, counts.get(word) ?? 0));
  return counts;
}

const BREAK: TreeNode = { nodeName: 'br' };

function textOf(document: TreeNode, parts: boolean): string {
  const texts: string[] = [];
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

/** Types of scripts that run (HTML standard, "prepare the script element"). */
const RUN = /^\s*(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|importmap|speculationrules)\s*$/i;
const LOADS_SCRIPT = /(?:^|\s)modulepreload(?:\s|$)/i;

type Element = DefaultTreeAdapterTypes.Element;
/** Any node of parse5, whose members depend on its kind. */
type TreeNode = Pick<Element, 'nodeName'> &
  Partial<Pick<Element, 'attrs' | 'sourceCodeLocation'> & Pick<DefaultTreeAdapterTypes.TextNode, 'value'>> & {
    readonly childNodes?: readonly TreeNode[];
    readonly content?: TreeNode;
  };

export function dropScripts(html: string): string {
  const dropped: Pick<Token.Location, 'startOffset' | 'endOffset'>[] = [];
  const waiting: TreeNode[] = [parse(html, { sourceCodeLocationInfo: true }) as unknown as TreeNode];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    const location = node.sourceCodeLocation ?? null;
    if (location !== null && isScript(node)) {
      dropped.push(location);
      continue;
    }
    for (const [name, range] of Object.entries(location?.attrs ?? {})) if (name.startsWith('on')) dropped.push(range);
    waiting.push(...(node.childNodes ?? []).toReversed());
    if (node.content !== undefined) waiting.push(node.content);
  }
  let kept = '';
  let at = 0;
  for (const { startOffset, endOffset } of dropped.sort((a, b) => a.startOffset - b.startOffset)) {
    kept += html.slice(at, startOffset);
    at = endOffset;
  }
  return kept + html.slice(at);
}

function isScript({ nodeName, attrs = [] }: TreeNode): boolean {
  const attributeOf = (name: string): string => attrs.find((attribute) => attribute.name === name)?.value ?? '';
  if (nodeName === 'script') return RUN.test(attributeOf('type'));
  if (nodeName !== 'link') return false;
  return (
    LOADS_SCRIPT.test(attributeOf('rel')) ||
    (/(?:^|\s)preload(?:\s|$)/i.test(attributeOf('rel')) && attributeOf('as') === 'script')
  );
}
