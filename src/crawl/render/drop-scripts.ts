import { parse } from 'parse5';

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
