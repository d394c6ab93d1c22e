import { parse } from 'parse5';

export interface PageNode {
  readonly nodeName: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly PageNode[];
  readonly value?: string;
}

export const nodes = (node: PageNode): PageNode[] => [node, ...(node.childNodes ?? []).flatMap(nodes)];
export const attribute = (node: PageNode, name: string) => node.attrs?.find((each) => each.name === name)?.value;
export const text = (node: PageNode) =>
  nodes(node)
    .map(({ value }) => value ?? '')
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Nodes of a document in their order. */
export const parsedNodes = (html: string): PageNode[] => nodes(parse(html) as unknown as PageNode);
