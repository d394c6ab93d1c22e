import { join, posix } from 'node:path';
import { parse } from 'parse5';
import { beforeAll, describe, expect, it } from 'vitest';
import { ImmutableNames } from '../../../src/web/index.ts';
import { attribute, elementsOf, type RenderedSite, renderFolder } from './render-folder.ts';

const DOCS = join(import.meta.dirname, '../../../docs');

describe.each(['2026-10-01', '2026-11-01'])('docshelf manual in version %s', (version) => {
  let site: RenderedSite;
  let pages: string[];
  beforeAll(async () => {
    site = await renderFolder(DOCS, { version, domain: 'docshelf' });
    pages = site.paths.filter((path) => path.endsWith('.html'));
  });

  it('has no findings', () => {
    expect(site.findings).toEqual([]);
  });

  it('has no broken link or fragment', () => {
    const astray: string[] = [];
    const idsOf = new Map(pages.map((path) => [path, idsIn(site, path)]));
    for (const path of pages) {
      for (const element of elementsOf(parse(site.text(path)))) {
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
    for (const path of pages) {
      const ids = idsIn(site, path);
      expect(ids, path).toEqual([...new Set(ids)]);
    }
  });

  it('loads no file from another host', () => {
    for (const path of site.paths) {
      if (path.endsWith('.css')) expect(site.text(path), path).not.toMatch(/url\(|@import/);
      if (!path.endsWith('.html')) continue;
      const loaded = ['img', 'script', 'iframe', 'source'].flatMap((tag) => site.elements(path, tag));
      const styles = site.elements(path, 'link').filter((each) => /stylesheet|icon/.test(attribute(each, 'rel') ?? ''));
      const addresses = [...loaded, ...styles].map((each) => attribute(each, 'src') ?? attribute(each, 'href') ?? '');
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

  it('is rendered to the same bytes each time', async () => {
    const again = await renderFolder(DOCS, { version, domain: 'docshelf' });
    expect(again.files).toEqual(site.files);
    expect([...again.files.keys()]).toEqual([...site.files.keys()]);
  });

  it('shows its version on every page', () => {
    for (const path of pages) expect(site.text(path), path).toContain(version);
  });
});

describe('versions of the docshelf manual', () => {
  it('differ in their pages and in their color', async () => {
    const [older, newer] = await Promise.all(
      ['2026-10-01', '2026-11-01'].map((version) => renderFolder(DOCS, { version, domain: 'docshelf' })),
    );
    expect([older?.files.has('reload.html'), newer?.files.has('reload.html')]).toEqual([false, true]);
    expect(hueOf(older)).toBe('45');
    expect(hueOf(newer)).toBe('165');
  });
});

function idsIn(site: RenderedSite, path: string): string[] {
  return elementsOf(parse(site.text(path)))
    .map((each) => attribute(each, 'id'))
    .filter((id) => id !== null);
}

function hueOf(site: RenderedSite | undefined): string | undefined {
  const css = site?.paths.find((path) => /^assets\/site\..*\.css$/.test(path)) ?? '';
  return /--hue:(\d+)/.exec(site?.text(css) ?? '')?.[1];
}
