import { attributeOf, classesOf, type Element, elementsOf, isElement, type Parent } from '../content/tree.ts';
import { decodeOrKeep } from '../percent-decode.ts';
import type { Phrase } from './nodes.ts';

const REFERENCE_CLASSES = new Set(['footnote-ref', 'footnote-reference', 'footnote-anchor']);
const DEFINITION_CLASSES = new Set(['footnote', 'footnote-item', 'footnote-definition']);
const LIST_CLASSES = new Set(['footnotes', 'footnotes-list', 'footnote-list']);

const has = (element: Element, names: ReadonlySet<string>): boolean =>
  classesOf(element).some((name) => names.has(name));

/** Notes that references lead to, by the ids of both, as remark, markdown-it, Python-Markdown and docutils write them. */
export class Footnotes {
  readonly #numbers = new Map<string, string>();

  constructor(content: Parent) {
    const referenced = new Set<string>();
    const defined: string[] = [];
    for (const element of elementsOf(content)) {
      if (element.tagName === 'a') {
        const target = targetOf(element);
        if (target !== null && isReference(element)) referenced.add(target);
      } else if (isDefinition(element)) defined.push(attributeOf(element, 'id') ?? '');
    }
    for (const id of defined) if (referenced.has(id)) this.#numbers.set(id, String(this.#numbers.size + 1));
  }

  referenceOf(link: Element): Phrase | null {
    const target = this.#numbers.size === 0 || !isReference(link) ? null : targetOf(link);
    const number = target === null ? undefined : this.#numbers.get(target);
    return number === undefined ? null : { type: 'footnoteReference', identifier: number, label: number };
  }

  /** Null for what is no footnote's text. */
  numberOf(element: Element): string | null {
    if (this.#numbers.size === 0 || !isDefinition(element)) return null;
    return this.#numbers.get(attributeOf(element, 'id') ?? '') ?? null;
  }
}

function targetOf(link: Element): string | null {
  const href = attributeOf(link, 'href') ?? '';
  return href.startsWith('#') && href.length > 1 ? decodeOrKeep(href.slice(1)) : null;
}

function isReference(link: Element): boolean {
  if (attributeOf(link, 'data-footnote-ref') !== null || attributeOf(link, 'role') === 'doc-noteref') return true;
  const { parentNode } = link;
  return has(link, REFERENCE_CLASSES) || (isElement(parentNode) && has(parentNode, REFERENCE_CLASSES));
}

function isDefinition(element: Element): boolean {
  if (attributeOf(element, 'id') === null) return false;
  if (has(element, DEFINITION_CLASSES)) return true;
  if (element.tagName !== 'li') return false;
  const list = element.parentNode;
  if (!isElement(list)) return false;
  const holder = list.parentNode;
  const isNotes = (each: Element): boolean =>
    has(each, LIST_CLASSES) || has(each, DEFINITION_CLASSES) || attributeOf(each, 'data-footnotes') !== null;
  return isNotes(list) || (isElement(holder) && isNotes(holder));
}
