import type { DefaultTreeAdapterTypes } from 'parse5';

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
export type Parent = DefaultTreeAdapterTypes.ParentNode;

/**
 * Elements inside elements that are read. Real pages stay below 100; without a limit a page of 100,000 open tags would
 * exhaust the stack.
 */
export const DEPTH_MAX = 800;

export function isElement(node: Node | Parent | null | undefined): node is Element {
  return node !== null && node !== undefined && 'tagName' in node;
}

export function isText(node: Node): node is DefaultTreeAdapterTypes.TextNode {
  return node.nodeName === '#text';
}

/** An attribute's value, or null where the element has none of that name. */
export function attributeOf(element: Element, name: string): string | null {
  for (const attribute of element.attrs) if (attribute.name === name) return attribute.value;
  return null;
}

export function hasClass(element: Element, name: string): boolean {
  return ` ${attributeOf(element, 'class') ?? ''} `.includes(` ${name} `);
}

/** Elements below `root` in the page's order, without itself. */
export function* elementsOf(root: Parent): Generator<Element> {
  const open: Node[] = root.childNodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isElement(node)) continue;
    yield node;
    for (let index = node.childNodes.length - 1; index >= 0; index--) open.push(node.childNodes[index] as Node);
  }
}

/** The first element below `root`, in the page's order, that fits; null where none does. */
export function findElement(root: Parent, fits: (element: Element) => boolean): Element | null {
  for (const element of elementsOf(root)) if (fits(element)) return element;
  return null;
}

/** All text below a node as it stands in the markup. */
export function rawText(root: Parent): string {
  let text = '';
  const open: Node[] = root.childNodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isText(node)) text += node.value;
    else if (isElement(node)) for (const child of node.childNodes.toReversed()) open.push(child);
  }
  return text;
}

/** Text on one line: white space runs become one space, none at the ends; zero-width characters and soft hyphens go. */
export function oneLine(text: string): string {
  return text
    .replace(/[\u00ad\u200b\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

export function isHeading(element: Element): boolean {
  return /^h[1-6]$/.test(element.tagName);
}
