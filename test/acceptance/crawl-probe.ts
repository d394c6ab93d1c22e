import { parse as parseCss, walk } from 'css-tree';
import { lookup } from 'mime-types';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { srcsetUrls } from '../../src/web/references.ts';
import type { OriginFile } from '../crawl/origin.ts';

/** One kind of reference: a page that has it, and the file behind it. */
export interface Probe {
  readonly name: string;
  /**
   * The page. In it, and in `files`, `{d}` is the probe's folder on the site, `{c}` the one on the other origin with that
   * origin, `{site}` and `{cdn}` are the origins.
   */
  readonly page: OriginFile;
  /** The file that has the mark, in the probe's folder; `c:` before it: on the other origin. Null: the page has it. */
  readonly marked: string | null;
  /** From the written page to the written file, each step by what the file before it says. */
  readonly steps: readonly Step[];
  /** Other files, named as `marked` is; with a leading slash: from the root. */
  readonly files?: Readonly<Record<string, OriginFile>>;
  /** What the marked file answers, where it is not told by its name; its body gets the mark. */
  readonly answer?: { readonly type?: string; readonly headers?: Readonly<Record<string, string>> };
  /** The media type that a host must see in the marked file's name. */
  readonly served?: string;
}

/** A file as a host of the written site answers it. */
export interface Reached {
  readonly url: string;
  readonly type: string;
  readonly text: string;
}

/** The address that a file names next, absolute. Throws where it names none. */
export type Step = (from: Reached) => string;

/** The text that says that a file is the one. */
export const markOf = (name: string): string => `MARK-${slugOf(name)}-END`;

export const slugOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** A file with the mark in it that is what its type says. */
export function markedBody(type: string, mark: string): string {
  if (type === 'text/css') return `/* ${mark} */ .x{color:red}`;
  if (type === 'text/javascript' || type === 'application/javascript') return `/* ${mark} */`;
  if (type === 'text/html') return `<!doctype html><title>${mark}</title><p id="part">${mark}</p>`;
  if (type === 'image/svg+xml') {
    return `<svg xmlns="http://www.w3.org/2000/svg"><!-- ${mark} --><g id="part"/><linearGradient id="g"/></svg>`;
  }
  if (type.endsWith('json')) return JSON.stringify({ mark });
  return mark;
}

export const typeOfName = (name: string): string => lookup(name.replace(/[?#].*/, '')) || 'application/octet-stream';

type Element = DefaultTreeAdapterMap['element'];
type ParentNode = DefaultTreeAdapterMap['parentNode'];

function* elementsOf(parent: ParentNode): Generator<Element> {
  for (const child of parent.childNodes) {
    if (!('attrs' in child)) continue;
    yield child;
    yield* elementsOf(child);
    if ('content' in child) yield* elementsOf((child as DefaultTreeAdapterMap['template']).content);
  }
}

const attributeOf = ({ attrs }: Element, name: string): string | null =>
  attrs.find((attr) => (attr.prefix ? `${attr.prefix}:${attr.name}` : attr.name) === name)?.value ?? null;

/** The document as a reader without scripts has it: what is in `noscript` is markup. */
const documentOf = (html: string): ParentNode => parse(html, { scriptingEnabled: false });

function valueIn(html: string, tag: string, attribute: string, index: number): string {
  const values = [...elementsOf(documentOf(html))]
    .filter(({ tagName }) => tagName === tag)
    .map((element) => attributeOf(element, attribute))
    .filter((value) => value !== null);
  const value = values[index];
  if (value === undefined) throw new Error(`no ${tag} ${attribute} in ${html}`);
  return value;
}

function baseOf({ text, url }: Reached): string {
  const bases = [...elementsOf(documentOf(text))].filter(({ tagName }) => tagName === 'base');
  const href = bases.map((base) => attributeOf(base, 'href')).find((value) => value !== null);
  return href === undefined ? url : new URL(href, url).href;
}

/** By an attribute of the page's first such element that has it. */
export const at =
  (tag: string, attribute: string, index = 0): Step =>
  (from) =>
    new URL(valueIn(from.text, tag, attribute, index), baseOf(from)).href;

/** By an address of a list with descriptors. */
export const listed =
  (tag: string, attribute: string, index: number): Step =>
  (from) =>
    new URL(srcsetUrls(valueIn(from.text, tag, attribute, 0))[index] ?? '', baseOf(from)).href;

/** By an attribute of a document that stands in the page's `iframe`. */
export const within =
  (...steps: readonly [tag: string, attribute: string][]): Step =>
  (from) => {
    const html = steps.slice(0, -1).reduce((text, [tag, attribute]) => valueIn(text, tag, attribute, 0), from.text);
    const [tag, attribute] = steps.at(-1) ?? ['', ''];
    return new URL(valueIn(html, tag, attribute, 0), from.url).href;
  };

/** By what a pattern finds in the file as it is, its first group. */
export const found =
  (pattern: RegExp): Step =>
  (from) => {
    const address = pattern.exec(from.text)?.[1];
    if (address === undefined) throw new Error(`nothing like ${pattern} in ${from.text}`);
    return new URL(address, from.url).href;
  };

/** By the style sheet's first `url()`, its escapes undone. */
export const cssUrl: Step = (from) => {
  const urls: string[] = [];
  walk(parseCss(from.text), (node) => {
    if (node.type === 'Url') urls.push(node.value);
  });
  if (urls[0] === undefined) throw new Error(`no url() in ${from.text}`);
  return new URL(urls[0], from.url).href;
};

/** By what a pattern finds in an attribute. */
export const foundIn =
  (tag: string, attribute: string, pattern: RegExp): Step =>
  (from) =>
    found(pattern)({ ...from, text: valueIn(from.text, tag, attribute, 0) });

/** By a bare name that the page's import map knows. */
export const mapped =
  (name: string, rest = ''): Step =>
  (from) => {
    const json = /<script type="?importmap"?>(.*?)<\/script>/s.exec(from.text)?.[1] ?? '{}';
    const { imports } = JSON.parse(json) as { imports: Record<string, string> };
    const address = imports[name];
    if (address === undefined) throw new Error(`no ${name} in ${json}`);
    return new URL(rest, new URL(address, from.url)).href;
  };

/** By an address that nothing written names: a framework's scripts put it together. */
export const known =
  (address: string): Step =>
  (from) =>
    new URL(address, from.url).href;
