import { classesOf, type Element, elementsOf, hasClass } from '../content/tree.ts';

/** Titles of notes, as Docusaurus, VitePress, Starlight, Sphinx, Material and GitHub name them. */
const TITLE_CLASS =
  /^(?:admonition-?title|custom-block-title|starlight-aside__title|markdown-alert-title|(?:callout|alert)-?(?:title|heading))$|^admonitionHeading/;
/** What a note holds before its title. */
const LOOKED_AT_MAX = 5;

/** Null where it has none of its own. */
export function noteTitleOf(note: Element): Element | null {
  for (const element of elementsOf(note).take(LOOKED_AT_MAX)) {
    if (classesOf(element).some((name) => TITLE_CLASS.test(name))) return element;
    if (element.tagName === 'summary' && hasClass(note, 'details')) return element;
  }
  return null;
}
