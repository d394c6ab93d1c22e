import { parse as parseCss, walk } from 'css-tree';
import { lookup } from 'mime-types';
import { type DefaultTreeAdapterMap, parse } from 'parse5';
import { srcsetUrls } from '../../src/web/references.ts';
import { type Origin, type OriginFile, originOf } from '../crawl/origin.ts';
import { httpServer, type LocalServer } from '../helpers/local-server.ts';

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

/** The live site of the probes, and the other origin that its pages load from. */
export interface ProbeSite {
  readonly site: Origin;
  readonly cdn: Origin;
  /** Files of the site besides, by path. */
  add(extra: Readonly<Record<string, OriginFile>>): void;
  close(): Promise<void>;
}

/** Where a probe's page is. */
export const pageOf = (name: string): string => `/probe/${slugOf(name)}`;

export async function startProbeSite(probes: readonly Probe[]): Promise<ProbeSite> {
  const files = { site: {} as Record<string, OriginFile>, cdn: {} as Record<string, OriginFile> };
  const site = await originOf(files.site);
  const cdn = await originOf(files.cdn);
  const origins = { site: site.origin, cdn: cdn.origin };
  for (const probe of probes) addProbe(probe, origins, files);
  const links = probes.map(({ name }) => `<li><a href="${pageOf(name)}">${slugOf(name)}</a></li>`);
  files.site['/'] = `<!doctype html><title>Probes</title><ul>${links.join('\n')}</ul>`;
  return {
    site,
    cdn,
    add: (extra) => {
      for (const [path, file] of Object.entries(extra)) files.site[path] = filled(file, '/', origins);
    },
    close: async () => {
      await site.close();
      await cdn.close();
    },
  };
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

/** With its places filled in. */
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

/** The written files, as a host that knows nothing but files answers for them; types are those of the names. */
export async function dumbHostOf(files: ReadonlyMap<string, Buffer>): Promise<LocalServer> {
  return httpServer((request, response) => {
    const path = decodeURIComponent((request.url ?? '').replace(/[?#].*/, '').slice(1));
    const name = path === '' || path.endsWith('/') ? `${path}index.html` : path;
    const body = files.get(name);
    if (body === undefined) response.writeHead(404).end();
    else response.writeHead(200, { 'content-type': typeOfName(name) }).end(body);
  });
}

/** Goes from a page to what its references lead to, and never off its host. @throws where a step leads nowhere */
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
