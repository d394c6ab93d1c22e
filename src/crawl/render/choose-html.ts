import { parse } from 'parse5';
import type { RenderSettings } from '../../domain/crawl.ts';
import { htmlCharset } from '../../web/index.ts';
import type { BrowserPage } from './rendered-page.ts';
import { countMissing, countWords, countWordsOfHtml, sumOf } from './words.ts';

type ChosenHtml =
  | { readonly kind: 'original' }
  /** In UTF-8. */
  | { readonly kind: 'settled'; readonly html: string };

/** Share of missing words up to which the original is written: scripts add a button, or a date. */
const MISSING_SHARE_FREE = 0.1;
/** From here on the settled document is. */
const MISSING_SHARE_MAX = 0.3;
/** Between the two: a chapter is more than a menu. */
const MISSING_WORDS_MAX = 100;

const BYTE_ORDER_MARK = '\uFEFF';

/** The original, unless much of a reader's text is not in it. Words are compared, and not their order. */
export function chooseHtml(
  original: string,
  rendered: Pick<BrowserPage, 'dom'>,
  scripts: RenderSettings['scripts'],
): ChosenHtml {
  const { dom } = rendered;
  if (dom === null) return { kind: 'original' };
  const seen = countWords(dom.text);
  const total = sumOf(seen);
  const missing = countMissing(seen, countWordsOfHtml(original));
  const share = total === 0 ? 0 : missing / total;
  const isOwn = share <= MISSING_SHARE_FREE || (share <= MISSING_SHARE_MAX && missing < MISSING_WORDS_MAX);
  if (isOwn) return { kind: 'original' };
  return { kind: 'settled', html: asUtf8(scripts === 'drop' ? dropScripts(dom.html) : dom.html) };
}

/** A byte order mark goes before another encoding that the document names. */
function asUtf8(html: string): string {
  return htmlCharset(Buffer.from(html)) === 'utf-8' ? html : BYTE_ORDER_MARK + html;
}

/** HTML standard, "prepare the script element". */
const RUN = /^\s*(?:|module|(?:text|application)\/(?:x-)?(?:java|ecma)script|importmap|speculationrules)\s*$/i;
const LOADS_SCRIPT = /(?:^|\s)modulepreload(?:\s|$)/i;

interface TreeNode {
  readonly nodeName: string;
  readonly childNodes?: readonly TreeNode[];
  readonly content?: TreeNode;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly sourceCodeLocation?: {
    readonly startOffset: number;
    readonly endOffset: number;
    readonly attrs?: Readonly<Record<string, Range>>;
  } | null;
}
interface Range {
  readonly startOffset: number;
  readonly endOffset: number;
}

/** Scripts that hold data stay; links that load scripts and handlers of events go too. */
export function dropScripts(html: string): string {
  const dropped: Range[] = [];
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
