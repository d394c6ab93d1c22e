import {
  attributeOf,
  classesOf,
  type Element,
  elementsOf,
  isElement,
  oneLine,
  type Parent,
  rawText,
} from '../content/tree.ts';
import { decodeOrKeep } from '../escape.ts';
import type { Phrase } from './write.ts';

const LISTS_MAX = 10_000;

const isTabList = (element: Element): boolean => attributeOf(element, 'role') === 'tablist';
/** True for VitePress's group of code tabs, which contains all labels first, and then the code blocks in the same order. */
const isCodeGroup = (element: Element): boolean => classesOf(element).includes('vp-code-group');

/**
 * Finds the label of each tab panel by `aria-labelledby` or `aria-controls`. Without these attributes, the labels have the
 * order of the panels.
 */
export function tabLabels(content: Element): ReadonlyMap<Element, string> {
  const labels = new Map<Element, string>();
  const byId = new Map<string, string>();
  let waiting: string[] = [];
  let lists = 0;
  for (const element of elementsOf(content)) {
    if (isCodeGroup(element)) addCodeGroup(element, labels);
    else if (isTabList(element) && ++lists <= LISTS_MAX) {
      const tabs = [...elementsOf(element)].filter((each) => attributeOf(each, 'role') === 'tab');
      waiting = tabs.map((tab) => oneLine(rawText(tab)));
      for (const [at, tab] of tabs.entries()) {
        for (const id of [attributeOf(tab, 'id'), attributeOf(tab, 'aria-controls')])
          if (id !== null) byId.set(id, waiting[at] ?? '');
      }
    } else if (attributeOf(element, 'role') === 'tabpanel') {
      const known =
        byId.get(attributeOf(element, 'aria-labelledby') ?? '') ?? byId.get(attributeOf(element, 'id') ?? '');
      const next = waiting.shift();
      labels.set(element, known ?? next ?? '');
    }
  }
  return labels;
}

function addCodeGroup(group: Element, labels: Map<Element, string>): void {
  const inner = group.childNodes.filter(isElement);
  const tabs = inner
    .filter((each) => classesOf(each).includes('tabs'))
    .flatMap((bar) => [...elementsOf(bar)].filter(({ tagName }) => tagName === 'label'));
  const blocks = inner
    .filter((each) => classesOf(each).includes('blocks'))
    .flatMap((each) => each.childNodes.filter(isElement));
  for (const [at, block] of blocks.entries()) {
    const tab = tabs[at];
    if (tab !== undefined) labels.set(block, oneLine(rawText(tab)));
  }
}

export function isTabBar(element: Element): boolean {
  if (isTabList(element)) return true;
  const { parentNode } = element;
  return classesOf(element).includes('tabs') && isElement(parentNode) && isCodeGroup(parentNode);
}

const REFERENCE_CLASSES = new Set(['footnote-ref', 'footnote-reference', 'footnote-anchor']);
const DEFINITION_CLASSES = new Set(['footnote', 'footnote-item', 'footnote-definition']);
const LIST_CLASSES = new Set(['footnotes', 'footnotes-list', 'footnote-list']);

const has = (element: Element, names: ReadonlySet<string>): boolean =>
  classesOf(element).some((name) => names.has(name));

/** Finds footnotes, and their references by id, in the markup of remark, markdown-it, Python-Markdown and docutils. */
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
