import { parse } from 'parse5';
import { readableMarkup } from './markup.ts';
import { type PageFacts, readFacts } from './page-facts.ts';
import { type Element, findElement, isElement, type Parent } from './tree.ts';

interface PageTree {
  readonly document: Parent;
  readonly html: Element;
  /** Null for a page of frames. */
  readonly body: Element | null;
  readonly facts: PageFacts;
}

/** A page as search and Markdown read it. @param path tells XHTML */
export function readPageTree(path: string, markup: string): PageTree | null {
  const document = parse(readableMarkup(path, markup));
  const html = document.childNodes.find(isElement);
  if (html === undefined) return null;
  return { document, html, body: childOf(html, 'body'), facts: readFacts(html, childOf(html, 'head') ?? html) };
}

function childOf(parent: Parent, tagName: string): Element | null {
  return findElement(parent, (element) => element.tagName === tagName && element.parentNode === parent);
}
