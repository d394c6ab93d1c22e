import { join, posix } from 'node:path';
import { parse } from 'parse5';
import { beforeAll, describe, expect, it } from 'vitest';
import { ImmutableNames } from '../../../src/web/immutable-names.ts';
import { attribute, type Element, elementsOf, type RenderedSite, renderFolder } from './render-folder.ts';

const DOCS = join(import.meta.dirname, '../../../docs');

const VERSIONS = ['2026-10-01', '2026-11-01'];
const sites = new Map<string, RenderedSite>();
beforeAll(async () => {
  for (const version of VERSIONS) sites.set(version, await renderFolder(DOCS, { version, domain: 'docshelf' }));
});

describe.each(VERSIONS)('docshelf manual in version %s', (version) => {
  let site: RenderedSite;
  /** Elements of each page, by the path of the page. */
  let pages: Map<string, Element[]>;
  beforeAll(() => {
    site = sites.get(version) as RenderedSite;
    const paths = site.paths.filter((path) => path.endsWith('.html'));
    pages = new Map(paths.map((path) => [path, elementsOf(parse(site.text(path)))]));
  });

  it('is built without warnings in the export report', () => {
    expect(site.findings).toEqual([]);
  });

  it('has no broken link or fragment', () => {
    const astray: string[] = [];
    const idsOf = new Map([...pages].map(([path, elements]) => [path, idsIn(elements)]));
    for (const [path, elements] of pages) {
      for (const element of elements) {
        if (attribute(element, 'rel') === 'canonical') continue;
        const target = attribute(element, 'href') ?? attribute(element, 'src');
        if (target === null || /^https?:/.test(target)) continue;
        const [to = '', fragment] = target.split('#');
        const file = to === '' ? path : to.startsWith('/') ? to.slice(1) : posix.join(posix.dirname(path), to);
        if (!site.files.has(file)) astray.push(`${path}: ${target}`);
        if (fragment !== undefined && idsOf.get(file)?.includes(decodeURIComponent(fragment)) !== true) {
          astray.push(`${path}: ${target}`);
        }
      }
    }
    expect(astray).toEqual([]);
  });

  it('has no duplicate id on a page', () => {
    for (const [path, elements] of pages) {
      const ids = idsIn(elements);
      expect(ids, path).toEqual([...new Set(ids)]);
    }
  });

  it('loads no file from another host', () => {
    for (const path of site.paths.filter((each) => each.endsWith('.css')))
      expect(site.text(path), path).not.toMatch(/url\(|@import/);
    for (const [path, elements] of pages) {
      const loaded = elements.filter(
        (each) =>
          ['img', 'script', 'iframe', 'source'].includes(each.tagName) ||
          (each.tagName === 'link' && /stylesheet|icon/.test(attribute(each, 'rel') ?? '')),
      );
      const addresses = loaded.map((each) => attribute(each, 'src') ?? attribute(each, 'href') ?? '');
      expect(
        addresses.filter((address) => /^(?:https?:)?\/\//.test(address)),
        path,
      ).toEqual([]);
    }
  });

  it('has asset names with a hash of their content', () => {
    const assets = site.paths.filter((path) => path.startsWith('assets/'));
    expect(assets).toHaveLength(2);
    const names = new ImmutableNames({ namesIn: () => [] });
    for (const path of assets) expect(names.has(path), path).toBe(true);
  });

  it('shows its version on every page', () => {
    for (const path of pages.keys()) expect(site.text(path), path).toContain(version);
  });
});

describe('versions of the docshelf manual', () => {
  it('are rendered to the same bytes each time', async () => {
    const [version = ''] = VERSIONS;
    const again = await renderFolder(DOCS, { version, domain: 'docshelf' });
    expect([...again.files]).toEqual([...(sites.get(version)?.files ?? [])]);
  });

  it('differ in their pages and in their color', () => {
    const [older, newer] = VERSIONS.map((version) => sites.get(version));
    expect([older?.files.has('reload.html'), newer?.files.has('reload.html')]).toEqual([false, true]);
    expect(hueOf(older)).toBe('45');
    expect(hueOf(newer)).toBe('165');
  });
});

function idsIn(elements: readonly Element[]): string[] {
  return elements.map((each) => attribute(each, 'id')).filter((id) => id !== null);
}

function hueOf(site: RenderedSite | undefined): string | undefined {
  const css = site?.paths.find((path) => /^assets\/site\..*\.css$/.test(path)) ?? '';
  return /--hue:(\d+)/.exec(site?.text(css) ?? '')?.[1];
}
