import { isClutter } from '../content/clutter.ts';
import {
  attributeOf,
  DEPTH_MAX,
  type Element,
  findElement,
  hasClass,
  isElement,
  isText,
  type Parent,
  rawText,
} from '../content/tree.ts';
import { OWN_ORIGIN } from '../escape.ts';
import type { Footnotes } from './footnotes-and-tabs.ts';
import { type Phrase, plainText, rawOf, textOf } from './write.ts';

const STRONG = new Set(['strong', 'b']);
const EMPHASIS = new Set(['em', 'i', 'cite', 'dfn', 'var', 'address']);
const CODE = new Set(['code', 'kbd', 'samp', 'tt', 'pre']);
const DELETED = new Set(['del', 's', 'strike']);
export const BLOCKS: ReadonlySet<string> = new Set(
  (
    'address article aside blockquote center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 ' +
    'header hgroup hr li main ol p pre section summary table tbody td tfoot th thead tr ul caption'
  ).split(' '),
);
/** Elements that browsers usually show apart from the words before and after them. */
const APART = new Set([...BLOCKS, 'label', 'legend', 'option']);

const INVISIBLE = /[\u00ad\u200b\u2060\ufeff]/g;

interface Place {
  readonly depth: number;
  readonly marks: readonly string[];
  readonly isInLink: boolean;
  readonly isInHeading: boolean;
}

export class PhraseReader {
  readonly #resolveLink: ResolveLink;
  readonly #footnotes: Footnotes;

  constructor(resolveLink: ResolveLink, footnotes: Footnotes) {
    this.#resolveLink = resolveLink;
    this.#footnotes = footnotes;
  }

  read(
    node: Parent['childNodes'][number],
    given: { readonly isInLink?: boolean; readonly isInHeading?: boolean } = {},
  ): Phrase[] {
    const { isInLink = false, isInHeading = false } = given;
    return this.#node(node, { depth: 0, marks: [], isInLink, isInHeading });
  }

  addressOf(link: Element): string | null {
    const href = attributeOf(link, 'href');
    return href === null ? null : this.#resolveLink(href);
  }

  #node(node: Parent['childNodes'][number], place: Place): Phrase[] {
    if (isText(node)) {
      const value = node.value.replace(INVISIBLE, '').replace(/\s+/g, ' ');
      return value === '' ? [] : [textOf(value)];
    }
    if (!isElement(node) || place.depth >= DEPTH_MAX) return [];
    if (node.tagName === 'math') return formulaOf(node);
    return isClutter(node) ? [] : this.#element(node, place);
  }

  #children(parent: Element, place: Place): Phrase[] {
    const inner = { ...place, depth: place.depth + 1 };
    return parent.childNodes.flatMap((child) => this.#node(child, inner));
  }

  #element(element: Element, place: Place): Phrase[] {
    const { tagName } = element;
    if (tagName === 'br') return [{ type: 'break' }];
    if (tagName === 'img') return this.#picture(element);
    if (tagName === 'a') return this.#link(element, place);
    if (CODE.has(tagName)) return codeOf(element);
    if (tagName === 'sup' || tagName === 'sub') return this.#raised(element, place);
    if (tagName === 'q') return [textOf('“'), ...this.#children(element, place), textOf('”')];
    const mark = markOf(tagName);
    if (mark !== null && !place.marks.includes(mark) && !(mark === 'strong' && place.isInHeading))
      return [{ type: mark, children: this.#children(element, { ...place, marks: [...place.marks, mark] }) }];
    const children = this.#children(element, place);
    return APART.has(tagName) ? [textOf(' '), ...children, textOf(' ')] : children;
  }

  #picture(element: Element): Phrase[] {
    const alt = (attributeOf(element, 'alt') ?? '').replace(/\s+/g, ' ').trim();
    const url = [attributeOf(element, 'src'), attributeOf(element, 'data-src')]
      .map((address) => (address === null || address === '' ? null : this.#resolveLink(address)))
      .find((address) => address !== null);
    if (url === undefined || url === null) return alt === '' ? [] : [textOf(alt)];
    return hasClass(element, 'emoji') ? [textOf(alt)] : [{ type: 'image', url, alt, title: null }];
  }

  #link(element: Element, place: Place): Phrase[] {
    const reference = this.#footnotes.referenceOf(element);
    if (reference !== null) return [reference];
    const inner = { ...place, isInLink: true };
    const children = this.#children(element, inner);
    const isOwn = place.isInHeading && (attributeOf(element, 'href') ?? '').startsWith('#');
    const url = place.isInLink || isOwn ? null : this.addressOf(element);
    return url === null ? children : [{ type: 'link', url, title: null, children }];
  }

  #raised(element: Element, place: Place): Phrase[] {
    const children = this.#children(element, place);
    const isReference = children.some(({ type }) => type === 'footnoteReference' || type === 'link');
    if (isReference || children.length === 0 || hasClass(element, 'footnote-ref')) return children;
    return [rawOf(`<${element.tagName}>`), ...children, rawOf(`</${element.tagName}>`)];
  }
}

function markOf(tagName: string): 'strong' | 'emphasis' | 'delete' | null {
  if (STRONG.has(tagName)) return 'strong';
  if (EMPHASIS.has(tagName)) return 'emphasis';
  return DELETED.has(tagName) ? 'delete' : null;
}

function codeOf(element: Element): Phrase[] {
  const text = rawText(element).replace(INVISIBLE, '').replace(/\s+/g, ' ');
  const value = text.trim();
  if (value === '') return [textOf(' ')];
  return [
    ...(text.startsWith(' ') ? [textOf(' ')] : []),
    { type: 'inlineCode', value },
    ...(text.endsWith(' ') ? [textOf(' ')] : []),
  ];
}

/** Returns the TeX source that KaTeX and MathJax store in MathML, or else the symbols of the formula. */
function formulaOf(math: Element): Phrase[] {
  const source = findElement(
    math,
    (element) => element.tagName === 'annotation' && attributeOf(element, 'encoding') === 'application/x-tex',
  );
  const tex = source === null ? '' : rawText(source).replace(/\s+/g, ' ').trim();
  if (tex === '') return [textOf(rawText(math).replace(/\s+/g, ' '))];
  const sign = attributeOf(math, 'display') === 'block' ? '$$' : '$';
  return [rawOf(`${sign}${tex}${sign}`)];
}

const LINKED = new Set(['http:', 'https:', 'mailto:', 'tel:', 'ftp:']);

/** Returns the address that Markdown uses for a link of the page. Null for an invalid link, or a scheme such as `javascript:`. */
export type ResolveLink = (address: string) => string | null;

/**
 * Creates a resolver for the links of one page.
 * @param address percent-encoded address of the page
 * @param canonical URL of the page on the published site
 */
export function linkResolver(address: string, base: string | null, canonical: string | null): ResolveLink {
  const published = canonical === null ? null : URL.parse(canonical, OWN_ORIGIN);
  const own = URL.parse(asPublished(address, published), OWN_ORIGIN);
  const from = base === null ? own : (URL.parse(base, own?.href) ?? own);
  return (href) => {
    const url = URL.parse(href.trim(), from?.href);
    if (url === null || !LINKED.has(url.protocol)) return null;
    const isOwn = url.origin === OWN_ORIGIN || (url.origin === published?.origin && url.origin !== 'null');
    return isOwn ? url.pathname + url.search + url.hash : url.href;
  };
}

function asPublished(address: string, published: URL | null): string {
  const stem = address.replace(/\.x?html?$/i, '');
  const name = stem.slice(stem.lastIndexOf('/'));
  return published?.pathname.endsWith(name) === true && name !== '/' ? stem : address;
}

type Marked = Extract<Phrase, { readonly type: 'strong' | 'emphasis' | 'delete' | 'link' }>;

const isMarked = (node: Phrase): node is Marked =>
  node.type === 'strong' || node.type === 'emphasis' || node.type === 'delete' || node.type === 'link';

/** Joins adjacent phrases (text, emphasis, links) of one type, and moves white space out of marks, as Markdown requires. */
export function tidy(phrases: readonly Phrase[]): Phrase[] {
  const joined = join(phrases.flatMap(withSpacesOutside));
  const out: Phrase[] = [];
  let isAtSpace = true;
  for (const node of joined) {
    if (node.type === 'break') {
      trimEnd(out);
      if (out.length > 0) out.push(node);
      isAtSpace = true;
      continue;
    }
    if (node.type !== 'text') {
      out.push(node);
      isAtSpace = false;
      continue;
    }
    const value: string = isAtSpace ? node.value.replace(/^ +/, '') : node.value;
    if (value === '') continue;
    out.push(textOf(value));
    isAtSpace = value.endsWith(' ');
  }
  trimEnd(out);
  while (out.at(-1)?.type === 'break') {
    out.pop();
    trimEnd(out);
  }
  return out;
}

function trimEnd(phrases: Phrase[]): void {
  const last = phrases.at(-1);
  if (last?.type !== 'text') return;
  const value = last.value.trimEnd();
  phrases.pop();
  if (value !== '') phrases.push(textOf(value));
}

function withSpacesOutside(node: Phrase): Phrase[] {
  if (!isMarked(node)) return [node];
  const before = startsWithSpace(node.children[0]) ? [textOf(' ')] : [];
  const after = node.children.length > 0 && endsWithSpace(node.children.at(-1)) ? [textOf(' ')] : [];
  const children = tidy(node.children);
  if (children.length === 0) return [...before, ...after];
  const [first] = children;
  const isCodeAlone = children.length === 1 && first?.type === 'inlineCode';
  // Marks next to code spans are hard to read, so omit emphasis that contains only code, such as a placeholder in a command.
  if (node.type === 'emphasis' && isCodeAlone) return [...before, first, ...after];
  if (node.type !== 'link' && children.length === 1 && first?.type === node.type) return [...before, first, ...after];
  return [...before, { ...node, children } as Phrase, ...after];
}

const startsWithSpace = (node: Phrase | undefined): boolean => node?.type === 'text' && node.value.startsWith(' ');
const endsWithSpace = (node: Phrase | undefined): boolean => node?.type === 'text' && node.value.endsWith(' ');

/** Joins phrases in one pass, because a page may have 100,000 phrases. */
function join(phrases: readonly Phrase[]): Phrase[] {
  const out: Phrase[] = [];
  for (let at = 0; at < phrases.length; ) {
    const first = phrases[at] as Phrase;
    let end = at + 1;
    while (first.type !== 'link' && phrases[end]?.type === first.type) end += 1;
    out.push(...joined(first, phrases.slice(at, end)));
    at = end;
  }
  return out;
}

function joined(first: Phrase, run: readonly Phrase[]): readonly Phrase[] {
  if (first.type === 'text') return [textOf(run.map(plainText).join('').replace(/ {2,}/g, ' '))];
  if (run.length === 1) return run;
  // Markdown would read two adjacent code spans as one span that contains backticks.
  if (first.type === 'inlineCode') return [{ type: 'inlineCode', value: run.map(plainText).join('') }];
  if (!isMarked(first)) return run;
  const children = run.flatMap((node) => (isMarked(node) ? node.children : []));
  return [{ ...first, children: tidy(children) } as Phrase];
}

export function onOneLine(phrases: readonly Phrase[], lineBreak: ' ' | '<br>'): Phrase[] {
  const one = (node: Phrase): Phrase => {
    if (node.type === 'break') return lineBreak === ' ' ? textOf(' ') : rawOf(lineBreak);
    return isMarked(node) ? ({ ...node, children: node.children.map(one) } as Phrase) : node;
  };
  return tidy(phrases.map(one));
}

export const isBlank = (phrases: readonly Phrase[]): boolean =>
  phrases.every((node) => node.type !== 'image' && plainText(node).trim() === '');
