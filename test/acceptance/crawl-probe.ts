import { parse as parseCss, walk } from 'css-tree';
import { lookup } from 'mime-types';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { srcsetUrls } from '../../src/web/references.ts';
import { type Origin, type OriginFile, originOf } from '../crawl/origin.ts';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';

/** One kind of reference: a page that contains it, and the referenced file. */
export interface Probe {
  readonly name: string;
  /**
   * The page. In it and in `files`, `{d}` is the probe's folder on the site, `{c}` its folder on the other origin with that
   * origin, and `{site}` and `{cdn}` are the origins.
   */
  readonly page: OriginFile;
  /**
   * File in the probe's folder that contains the mark. The prefix `c:` means the other origin. If null, the page contains the
   * mark.
   */
  readonly marked: string | null;
  /** Steps from the written page to the written file. Each step reads the file before it. */
  readonly steps: readonly Step[];
  /** Other files, named like `marked`. A leading slash means the root. */
  readonly files?: Readonly<Record<string, OriginFile>>;
  /** Response of the marked file if its name does not define it. The mark is added to its body. */
  readonly answer?: { readonly type?: string; readonly headers?: Readonly<Record<string, string>> };
  /** Media type that a host must derive from the name of the marked file. */
  readonly served?: string;
}

/** Response of a host of the written site. */
export interface Reached {
  readonly url: string;
  readonly type: string;
  readonly text: string;
}

/** Returns the absolute address of the next file. Throws if the file contains none. */
export type Step = (from: Reached) => string;

/** Text that identifies a file. */
export const markOf = (name: string): string => `MARK-${slugOf(name)}-END`;

export const slugOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]+/g, '-');

/** Returns a file of this type that contains the mark. */
function markedBody(type: string, mark: string): string {
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

/** The document without scripts, in which the content of `noscript` is markup. */
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

/** Follows an attribute of the page's first matching element. */
export const at =
  (tag: string, attribute: string, index = 0): Step =>
  (from) =>
    new URL(valueIn(from.text, tag, attribute, index), baseOf(from)).href;

/** Follows an address in a list with descriptors. */
export const listed =
  (tag: string, attribute: string, index: number): Step =>
  (from) =>
    new URL(srcsetUrls(valueIn(from.text, tag, attribute, 0))[index] ?? '', baseOf(from)).href;

/** Follows an attribute in the document of the page's `iframe`. */
export const within =
  (...steps: readonly [tag: string, attribute: string][]): Step =>
  (from) => {
    const html = steps.slice(0, -1).reduce((text, [tag, attribute]) => valueIn(text, tag, attribute, 0), from.text);
    const [tag, attribute] = steps.at(-1) ?? ['', ''];
    return new URL(valueIn(html, tag, attribute, 0), from.url).href;
  };

/** Follows the first group of a pattern in the text of the file. */
export const found =
  (pattern: RegExp): Step =>
  (from) => {
    const address = pattern.exec(from.text)?.[1];
    if (address === undefined) throw new Error(`nothing like ${pattern} in ${from.text}`);
    return new URL(address, from.url).href;
  };

/** Follows the first `url()` of the style sheet, without escapes. */
export const cssUrl: Step = (from) => {
  const urls: string[] = [];
  walk(parseCss(from.text), (node) => {
    if (node.type === 'Url') urls.push(node.value);
  });
  if (urls[0] === undefined) throw new Error(`no url() in ${from.text}`);
  return new URL(urls[0], from.url).href;
};

/** Follows the match of a pattern in an attribute. */
export const foundIn =
  (tag: string, attribute: string, pattern: RegExp): Step =>
  (from) =>
    found(pattern)({ ...from, text: valueIn(from.text, tag, attribute, 0) });

/** Follows a bare name in the page's import map. */
export const mapped =
  (name: string, rest = ''): Step =>
  (from) => {
    const json = /<script type="?importmap"?>(.*?)<\/script>/s.exec(from.text)?.[1] ?? '{}';
    const { imports } = JSON.parse(json) as { imports: Record<string, string> };
    const address = imports[name];
    if (address === undefined) throw new Error(`no ${name} in ${json}`);
    return new URL(rest, new URL(address, from.url)).href;
  };

/** Follows an address that no file contains, because scripts of a framework build it. */
export const known =
  (address: string): Step =>
  (from) =>
    new URL(address, from.url).href;

/** The live site of the probes, and the other origin from which its pages load files. */
export interface ProbeSite {
  readonly site: Origin;
  readonly cdn: Origin;
}

/** Path of a probe's page. */
export const pageOf = (name: string): string => `/probe/${slugOf(name)}`;

export async function startProbeSite(probes: readonly Probe[]): Promise<ProbeSite> {
  const files = { site: {} as Record<string, OriginFile>, cdn: {} as Record<string, OriginFile> };
  const site = await originOf(files.site);
  const cdn = await originOf(files.cdn);
  const origins = { site: site.origin, cdn: cdn.origin };
  for (const probe of probes) addProbe(probe, origins, files);
  const links = probes.map(({ name }) => `<li><a href="${pageOf(name)}">${slugOf(name)}</a></li>`);
  files.site['/'] = `<!doctype html><title>Probes</title><ul>${links.join('\n')}</ul>`;
  return { site, cdn };
}

type Origins = { readonly site: string; readonly cdn: string };

function addProbe(probe: Probe, origins: Origins, files: Record<'site' | 'cdn', Record<string, OriginFile>>): void {
  const folder = `/f/${slugOf(probe.name)}`;
  const put = (name: string, file: OriginFile): void => {
    const isCdn = name.startsWith('c:');
    const own = isCdn ? name.slice(2) : name;
    const path = own.startsWith('/') ? own : `${folder}/${own}`;
    const answered = typeof file === 'string' ? { type: typeOfName(own), body: file } : file;
    files[isCdn ? 'cdn' : 'site'][path] = filled(answered, folder, origins);
  };
  const page = typeof probe.page === 'string' ? { type: 'text/html', body: probe.page } : probe.page;
  files.site[pageOf(probe.name)] = filled(page, folder, origins);
  for (const [name, file] of Object.entries(probe.files ?? {})) put(name, file);
  if (probe.marked === null) return;
  const { type = typeOfName(probe.marked), headers = {} } = probe.answer ?? {};
  put(probe.marked, { type, headers, body: markedBody(type, markOf(probe.name)) });
}

/** Replaces the placeholders. */
function filled(file: OriginFile, folder: string, { site, cdn }: Origins): OriginFile {
  const fill = (text: string): string =>
    text
      .replaceAll('{d}', folder)
      .replaceAll('{c}', cdn + folder)
      .replaceAll('{sitehost}', new URL(site).host)
      .replaceAll('{cdnhost}', new URL(cdn).host)
      .replaceAll('{site}', site)
      .replaceAll('{cdn}', cdn);
  if (typeof file === 'function') return file;
  const { body = '', headers = {}, ...rest } = typeof file === 'string' ? { body: file } : file;
  const filledHeaders = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, fill(value)]));
  return { ...rest, headers: filledHeaders, body: typeof body === 'string' ? fill(body) : body };
}

/** File server of the written files. Types follow from the names. */
export async function dumbHostOf(files: ReadonlyMap<string, Buffer>): Promise<LocalServer> {
  return httpServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').replace(/[?#].*/, '').slice(1));
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const body = files.get(name);
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': typeOfName(name) }).end(body);
  });
}

/** Follows the references from a page, and never leaves its host. @throws Error if a step fails */
export async function follow(start: string, steps: readonly Step[]): Promise<Reached> {
  const { origin } = new URL(start);
  let reached = await reach(start);
  for (const step of steps) {
    const url = step(reached);
    if (new URL(url).origin !== origin) throw new Error(`${url} is not of the export`);
    reached = await reach(url);
  }
  return reached;
}

async function reach(url: string): Promise<Reached> {
  const response = await fetch(url);
  if (response.status !== 200) throw new Error(`${url} answers ${response.status}`);
  const text = new TextDecoder().decode(await response.arrayBuffer());
  return { url: response.url + new URL(url).hash, type: response.headers.get('content-type') ?? '', text };
}
