import type { DefaultTreeAdapterTypes } from 'parse5';

export type Node = DefaultTreeAdapterTypes.ChildNode;
export type Element = DefaultTreeAdapterTypes.Element;
export type Parent = DefaultTreeAdapterTypes.ParentNode;

/** Maximum depth of elements. Real pages have a depth of less than 100, and 100,000 open tags would exhaust the stack. */
export const DEPTH_MAX = 400;

export const isElement = (node: Node | Parent | null | undefined): node is Element =>
  node !== null && node !== undefined && 'tagName' in node;

export const isText = (node: Node): node is DefaultTreeAdapterTypes.TextNode => node.nodeName === '#text';

export function attributeOf(element: Element, name: string): string | null {
  for (const attribute of element.attrs) if (attribute.name === name) return attribute.value;
  return null;
}

export const hasClass = (element: Element, name: string): boolean => ` ${classOf(element)} `.includes(` ${name} `);

export function classesOf(element: Element): string[] {
  const names = classOf(element);
  return names === '' ? [] : names.split(/\s+/);
}

/** Maximum UTF-16 code units of a `class`, because each child searches the classes of its parent. Real values have up to 500. */
const CLASS_LENGTH_MAX = 10_000;

const classOf = (element: Element): string => attributeOf(element, 'class')?.slice(0, CLASS_LENGTH_MAX) ?? '';

export function* elementsOf(root: Parent): Generator<Element> {
  const open: Node[] = root.childNodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (!isElement(node)) continue;
    yield node;
    for (let index = node.childNodes.length - 1; index >= 0; index--) open.push(node.childNodes[index] as Node);
  }
}

export function findElement(root: Parent, fits: (element: Element) => boolean): Element | null {
  for (const element of elementsOf(root)) if (fits(element)) return element;
  return null;
}

export function rawText(root: Parent): string {
  let text = '';
  const open: Node[] = root.childNodes.toReversed();
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (isText(node)) text += node.value;
    else if (isElement(node)) for (const child of node.childNodes.toReversed()) open.push(child);
  }
  return text;
}

export function oneLine(text: string): string {
  return text
    .replace(/[\u00ad\u200b\u2060\ufeff]/g, '')
    .replace(/\s+/g, ' ')
    .trim();
}

export const isHeading = (element: Element): boolean => /^h[1-6]$/.test(element.tagName);

/** Doxygen writes the title of a page into a `div`, and uses `h1` for the sections. */
export const isTitleBlock = (element: Element): boolean =>
  hasClass(element, 'title') && isElement(element.parentNode) && hasClass(element.parentNode, 'headertitle');
