import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type DefaultTreeAdapterTypes, parse } from 'parse5';
import type { ExportRequest } from '../../../src/domain/job.ts';
import { collectMarkdown } from '../../../src/export/markdown/index.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { RecordingSink } from '../recording-sink.ts';

/** A rendered site in memory. */
export class RenderedSite extends RecordingSink {
  /** Number of HTML files, including 404 pages. */
  get pages(): number {
    return this.paths.filter((path) => path.endsWith('.html')).length;
  }

  /** Elements of a page by tag, or by tag and class. */
  elements(path: string, tag: string, className?: string): Element[] {
    return elementsOf(parse(this.text(path))).filter(
      (each) =>
        each.tagName === tag &&
        (className === undefined || (attribute(each, 'class') ?? '').split(' ').includes(className)),
    );
  }

  /** Returns the only element with this tag and class. @throws Error if there is none or several */
  element(path: string, tag: string, className?: string): Element {
    const [first, second] = this.elements(path, tag, className);
    if (first === undefined || second !== undefined) throw new Error(`"${path}" has not one ${tag} ${className ?? ''}`);
    return first;
  }

  /** Targets of links in a part of the page, in order. */
  links(path: string, tag = 'body', className?: string): (string | null)[] {
    return this.elements(path, tag, className).flatMap((part) =>
      elementsOf(part)
        .filter(({ tagName }) => tagName === 'a')
        .map((link) => attribute(link, 'href')),
    );
  }

  /** Content of a `<meta>`, or null. */
  meta(path: string, name: string): string | null {
    const found = this.elements(path, 'meta').find(
      (each) => attribute(each, 'name') === name || attribute(each, 'property') === name,
    );
    return found === undefined ? null : attribute(found, 'content');
  }
}

export type Element = DefaultTreeAdapterTypes.Element;
type Node = DefaultTreeAdapterTypes.Node;

export function attribute(element: Element, name: string): string | null {
  return element.attrs.find((attr) => attr.name === name)?.value ?? null;
}

export function elementsOf(node: Node): Element[] {
  const below = 'childNodes' in node ? node.childNodes.flatMap(elementsOf) : [];
  return 'tagName' in node ? [node, ...below] : below;
}

export function textOf(node: Node): string {
  if (node.nodeName === '#text') return (node as DefaultTreeAdapterTypes.TextNode).value;
  return 'childNodes' in node ? node.childNodes.map(textOf).join('') : '';
}

export interface RenderOptions extends Partial<ExportRequest> {
  readonly signal?: AbortSignal;
  onProgress?(done: number, total: number): void;
}

/** Renders a folder on disk. */
export async function renderFolder(dir: string, options: RenderOptions = {}): Promise<RenderedSite> {
  const site = new RenderedSite();
  const { signal = new AbortController().signal, onProgress, ...request } = options;
  if (onProgress !== undefined) site.progress = onProgress;
  await collectMarkdown(dir, { version: null, domain: 'acme', paths: null, ...request }, site, signal);
  return site;
}

/** Files by path: text, bytes, or a value that is written as JSON. */
export type Tree = Readonly<Record<string, string | Uint8Array | object>>;

/** Writes these files to a new folder, which is removed after the last test of the file. */
export function writeTree(tree: Tree): string {
  const dir = newFolder();
  for (const [path, content] of Object.entries(tree)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    const isPlain = typeof content === 'string' || content instanceof Uint8Array;
    writeFileSync(join(dir, path), isPlain ? content : JSON.stringify(content));
  }
  return dir;
}

export const render = (tree: Tree, options: RenderOptions = {}) => renderFolder(writeTree(tree), options);
