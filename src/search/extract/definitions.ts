import { headingText } from '../../web/content/clutter.ts';
import {
  attributeOf,
  type Element,
  elementsOf,
  hasClass,
  isElement,
  isHeading,
  oneLine,
  rawText,
} from '../../web/content/tree.ts';

/** Maximum length of a defined identifier in UTF-16 code units. A longer `dt` is a sentence. */
const NAME_LENGTH_MAX = 80;
const LONGER_NAMES_MAX = 8;
/** Maximum elements to read in one `dt`, so that the time stays linear if `dt` elements are nested. */
const SIGNATURE_ELEMENTS_MAX = 300;

/** CSS classes of the identifier in signatures from Sphinx, older Sphinx and pdoc3. */
const NAME_CLASSES = ['sig-name', 'descname', 'ident'];
/** Sphinx's CSS classes of the text before the identifier. The arguments after a command-line option have the same classes. */
const AROUND_NAME_CLASSES = ['sig-prename', 'descclassname'];

const hasAny = (element: Element, names: readonly string[]): boolean => names.some((name) => hasClass(element, name));

/** Identifier that a `dt` defines, without parameters and types. Null if it is too long, or if the `dt` contains a heading. */
export function termName(term: Element): string | null {
  const elements = firstElements(term);
  if (elements.length > SIGNATURE_ELEMENTS_MAX || elements.some(isHeading)) return null;
  const names = namesIn(elements);
  if (names.length > 0) return short(names.join(', '));
  // On manual pages, the whole `dt` can be a permalink, which `headingText` omits, so use all text.
  return short(nameIn(headingText(term) || oneLine(rawText(term))));
}

function firstElements(parent: Element): Element[] {
  return [...elementsOf(parent).take(SIGNATURE_ELEMENTS_MAX + 1)];
}

function namesIn(elements: readonly Element[]): string[] {
  const names: string[] = [];
  let before = '';
  for (const element of elements) {
    if (hasAny(element, AROUND_NAME_CLASSES)) {
      const text = oneLine(rawText(element));
      before = /[.:$#\\/]$/.test(text) ? text : '';
    } else if (hasAny(element, NAME_CLASSES)) {
      names.push(before + oneLine(rawText(element)));
      before = '';
    }
  }
  return names;
}

/**
 * Matches signatures such as `foo.Bar(x)`, `int foo(int a)` and `limit (integer)`. Only the first word may have a space before `(`.
 */
const CALL = /^(?:[^()]*\s)?[*&]*([^\s()*&]+)\(.*\)|^(\S+) \(/u;
/** Matches signatures such as `name: string` and `key = value`. */
const TYPED = /^(\S+?)\s*(?::|=|→|->)\s/u;

function nameIn(text: string): string {
  const [, called, typed] = CALL.exec(text) ?? [];
  return called ?? typed ?? TYPED.exec(text)?.[1] ?? text;
}

function short(name: string): string | null {
  return name === '' || name.length > NAME_LENGTH_MAX ? null : name;
}

/** Returns `Client.fetch` and `pkg.Client.fetch` for the identifier `fetch` with the anchor `pkg.Client.fetch`. */
export function longerNames(name: string, fragment: string): string[] {
  if (!fragment.endsWith(`.${name}`)) return [];
  const parts = fragment.split('.');
  const own = name.split('.').length;
  const more = Math.min(LONGER_NAMES_MAX, parts.length - own);
  return Array.from({ length: more }, (_, at) => parts.slice(-own - at - 1).join('.'));
}

/** Matches titles of pages about a type: `Client`, `Class Client<T>`, `Client (Acme API)` and `Client Class Reference`. */
const OWNER = /^(?:\p{Lu}\p{Ll}+ )?([\p{L}_$][\p{L}\p{N}_$.]*)(?:<.*>)?(?: \(.*\)| \p{Lu}\p{Ll}+ Reference)?$/u;

/** On the page about `Client`, returns `Client.fetch` for the heading `fetch` with Javadoc's anchor `fetch(int)` or `fetch-int-`. */
export function memberNames(title: string, heading: string, fragment: string | null): string[] {
  const isMember = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(heading) && fragment?.startsWith(heading) === true;
  const owner = isMember && /^(?:[(-]|$)/.test(fragment.slice(heading.length)) ? OWNER.exec(title)?.[1] : undefined;
  return owner === undefined ? [] : longerNames(heading, `${owner}.${heading}`);
}

export interface NamedEntry {
  readonly name: string;
  /** Anchor of the block. If null, the last anchor before the block applies. */
  readonly fragment: string | null;
}

/** Recognizes blocks with one definition and no heading: pdoc, older Doxygen, and `details` with an id. */
export function entryOf(element: Element): NamedEntry | null {
  if (element.attrs.length === 0) return null;
  const fragment = attributeOf(element, 'id');
  if (hasClass(element, 'memitem')) {
    const signature = firstElements(element).find((each) => hasClass(each, 'memname'));
    const [name = ''] = /[^\s*&(]+(?=\(|$)/u.exec(signature === undefined ? '' : oneLine(rawText(signature))) ?? [];
    return entry(name, fragment);
  }
  if (!fragment || !/^(?:section|div|details)$/.test(element.tagName)) return null;
  const first = element.childNodes.find(isElement);
  if (first === undefined || first.tagName !== (element.tagName === 'details' ? 'summary' : 'div')) return null;
  if (first.tagName === 'summary')
    return firstElements(first).some(isHeading) ? null : entry(headingText(first), fragment);
  const name = hasClass(first, 'attr') ? firstElements(first).find((each) => hasClass(each, 'name')) : undefined;
  return name === undefined ? null : entry(oneLine(rawText(name)), fragment);
}

function entry(written: string, fragment: string | null): NamedEntry | null {
  const name = short(written);
  return name === null ? null : { name, fragment };
}

/** In rustdoc, the heading of a block is a signature, and the id of the block ends with the identifier: `method.fetch`. */
export function rustItem(heading: Element): NamedEntry | null {
  const block = heading.parentNode;
  if (!hasClass(heading, 'code-header') || !isElement(block)) return null;
  const fragment = attributeOf(block, 'id');
  const [, name] = /^[a-z]+\.([\p{L}\p{N}_]+?)(?:-\d+)?$/u.exec(fragment ?? '') ?? [];
  return name === undefined ? null : { name, fragment };
}
