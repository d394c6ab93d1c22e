import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { parse } from 'parse5';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderManual } from '../../examples/demo/render.ts';
import { hashedName } from '../../src/web/index.ts';

const DOCS = join(import.meta.dirname, '../../docs');
const render = (version: string, docsDir = DOCS) => renderManual({ docsDir, version, domain: 'docshelf' });

interface Element {
  readonly tagName?: string;
  readonly attrs?: readonly { readonly name: string; readonly value: string }[];
  readonly childNodes?: readonly Element[];
}

/** Every element of a document. */
function elementsOf(bytes: Uint8Array): Element[] {
  const walk = (node: Element): Element[] => [node, ...(node.childNodes ?? []).flatMap(walk)];
  return walk(parse(new TextDecoder().decode(bytes)) as Element);
}

const attribute = (element: Element, name: string) => element.attrs?.find((attr) => attr.name === name)?.value;

describe.each(['2026-10-01', '2026-11-01'])('renderManual() for %s', (version) => {
  let site: Map<string, Uint8Array>;
  let documents: Map<string, Element[]>;
  beforeAll(async () => {
    site = await render(version);
    documents = new Map([...site].filter(([path]) => path.endsWith('.html')).map(([p, b]) => [p, elementsOf(b)]));
  });

  it('leads no link astray, fragments included', () => {
    const astray: string[] = [];
    for (const [path, elements] of documents) {
      for (const element of elements) {
        const isLoaded = element.tagName !== 'link' || attribute(element, 'rel') !== 'canonical';
        const target = isLoaded ? (attribute(element, 'href') ?? attribute(element, 'src')) : undefined;
        if (target === undefined) continue;
        const [to = '', fragment] = target.split('#');
        const file = to === '' ? path : posix.join('.', to.startsWith('/') ? to.slice(1) : to);
        const ids = (documents.get(file) ?? []).map((each) => attribute(each, 'id'));
        if (!site.has(file) || (fragment !== undefined && !ids.includes(fragment))) astray.push(`${path}: ${target}`);
      }
    }
    expect(astray).toEqual([]);
  });

  it('gives no id twice on a page', () => {
    for (const [path, elements] of documents) {
      const ids = elements.map((each) => attribute(each, 'id')).filter((id) => id !== undefined);
      expect(ids, path).toEqual([...new Set(ids)]);
    }
  });

  it('asks no other host for anything', () => {
    for (const path of site.keys()) {
      const text = new TextDecoder().decode(site.get(path));
      if (path.endsWith('.css')) expect(text, path).not.toMatch(/url\(|@import/);
      if (path.endsWith('.html')) expect(text, path).not.toMatch(/(?:src|href)="https?:(?!\/\/docshelf\.example\/)/);
    }
  });

  it('names its assets by their content', () => {
    const assets = [...site.keys()].filter((path) => path.startsWith('assets/'));
    expect(assets).toHaveLength(2);
    for (const path of assets) expect(hashedName(path), path).toBe(true);
  });

  it('gives the same bytes again', async () => {
    expect(await render(version)).toEqual(site);
  });

  it('shows its version on every page', () => {
    for (const path of documents.keys()) expect(new TextDecoder().decode(site.get(path)), path).toContain(version);
  });
});

describe('renderManual()', () => {
  const docsDir = mkdtempSync(join(tmpdir(), 'docshelf-docs-'));
  afterAll(() => rmSync(docsDir, { recursive: true }));

  it('leaves a page out of the versions before it', async () => {
    expect((await render('2026-10-01')).has('reload.html')).toBe(false);
    expect((await render('2026-11-01')).has('reload.html')).toBe(true);
  });

  it('turns a link to a page that is left out into its text, and refuses a link to none', async () => {
    writeFileSync(join(docsDir, 'index.md'), 'See [the later page](later.md).\n');
    writeFileSync(join(docsDir, 'later.md'), '---\nsince: "2"\n---\n# Later\n');
    const first = new TextDecoder().decode((await render('1', docsDir)).get('index.html'));
    expect(first).toContain('See the later page.');
    const second = new TextDecoder().decode((await render('2', docsDir)).get('index.html'));
    expect(second).toContain('See <a href="later.html">the later page</a>.');
    writeFileSync(join(docsDir, 'index.md'), 'See [nothing](nowhere.md).\n');
    await expect(render('1', docsDir)).rejects.toThrow('nowhere.md');
  });

  it('writes what it returns where a folder is named', async () => {
    const outDir = join(docsDir, 'out');
    const site = await renderManual({ docsDir: DOCS, version: '2026-11-01', domain: 'docshelf', outDir });
    for (const [path, bytes] of site) expect(readFileSync(join(outDir, path)).equals(bytes), path).toBe(true);
  });
});
