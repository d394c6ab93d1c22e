import { parse } from 'parse5';
import type { RenderSettings } from '../../domain/crawl.ts';
import { htmlCharset } from '../../web/index.ts';
import type { BrowserPage } from './rendered-page.ts';
import { countMissing, countWords, countWordsOfHtml, sumOf } from './words.ts';

type ChosenHtml =
  | { readonly kind: 'original' }
  /** The settled document as it is to be written, in UTF-8. */
  | { readonly kind: 'settled'; readonly html: string };

/** Below this share of missing words a page is its own: a button that a script adds, a date that it fills in. */
const MISSING_SHARE_FREE = 0.1;
/** Above it, it is not: most of what a reader reads is written by scripts. */
const MISSING_SHARE_MAX = 0.3;
/** Between the two it is a matter of how much text that is: a chapter more than a menu. */
const MISSING_WORDS_MAX = 100;

const BYTE_ORDER_MARK = '\uFEFF';

/**
 * Decides what of a page is written: the original, byte for byte, unless much of what a reader sees is not in it.
 *
 * Words are compared and not their order or their place: what styles hide is in the original all the same, and what scripts
 * only move about needs no settled document.
 *
 * @param original the page as it came, decoded
 */
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

/** A document that names another encoding, or none, begins with a mark, which goes before what it names. */
function asUtf8(html: string): string {
  return htmlCharset(Buffer.from(html)) === 'utf-8' ? html : BYTE_ORDER_MARK + html;
}

/** Types of scripts that a browser runs (HTML standard, "prepare the script element"); others are data, or belong to none. */
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

/**
 * A document without what runs scripts: `script` elements but for those that hold data, links that load scripts beforehand, and
 * the handlers of events. All else stays byte for byte.
 */
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
