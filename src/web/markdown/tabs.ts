import { attributeOf, classesOf, type Element, elementsOf, isElement, oneLine, rawText } from '../content/tree.ts';

/** Lists of tabs on a page that are looked at. */
const LISTS_MAX = 10_000;

const isTab = (element: Element): boolean => attributeOf(element, 'role') === 'tab';
export const isTabList = (element: Element): boolean => attributeOf(element, 'role') === 'tablist';
export const isTabPanel = (element: Element): boolean => attributeOf(element, 'role') === 'tabpanel';
/** VitePress's `code-group`: radio buttons and labels, and blocks of code in the same order. */
const isCodeGroup = (element: Element): boolean => classesOf(element).includes('vp-code-group');

/** Labels of panels: by `aria-labelledby` and `aria-controls`, else in their order after the list of tabs. */
export class Tabs {
  readonly #labels = new Map<Element, string>();

  constructor(content: Element) {
    const byId = new Map<string, string>();
    let waiting: string[] = [];
    let lists = 0;
    for (const element of elementsOf(content)) {
      if (isCodeGroup(element)) this.#readCodeGroup(element);
      else if (isTabList(element) && ++lists <= LISTS_MAX) {
        const tabs = [...elementsOf(element)].filter(isTab);
        waiting = tabs.map((tab) => oneLine(rawText(tab)));
        for (const [at, tab] of tabs.entries()) {
          for (const id of [attributeOf(tab, 'id'), attributeOf(tab, 'aria-controls')])
            if (id !== null) byId.set(id, waiting[at] ?? '');
        }
      } else if (isTabPanel(element)) {
        const known =
          byId.get(attributeOf(element, 'aria-labelledby') ?? '') ?? byId.get(attributeOf(element, 'id') ?? '');
        const next = waiting.shift();
        const label = known ?? next ?? '';
        if (label !== '') this.#labels.set(element, label);
      }
    }
  }

  /** Null where it has none, or is no panel. */
  labelOf(panel: Element): string | null {
    return this.#labels.get(panel) ?? null;
  }

  #readCodeGroup(group: Element): void {
    const inner = group.childNodes.filter(isElement);
    const labels = inner
      .filter((each) => classesOf(each).includes('tabs'))
      .flatMap((tabs) => [...elementsOf(tabs)].filter(({ tagName }) => tagName === 'label'));
    const blocks = inner
      .filter((each) => classesOf(each).includes('blocks'))
      .flatMap((each) => each.childNodes.filter(isElement));
    for (const [at, block] of blocks.entries()) {
      const label = labels[at];
      if (label !== undefined) this.#labels.set(block, oneLine(rawText(label)));
    }
  }
}

/** Tabs themselves, which their panels repeat. */
export function isTabBar(element: Element): boolean {
  if (isTabList(element)) return true;
  const { parentNode } = element;
  return classesOf(element).includes('tabs') && isElement(parentNode) && isCodeGroup(parentNode);
}
