import { describe, expect, it } from 'vitest';
import { attribute, type Element, elementsOf, render, textOf } from './render-folder.ts';

/** Navigation as nested lists, with titles of groups before their content. */
function outline(element: Element): unknown[] {
  return element.childNodes.flatMap((child): unknown[] => {
    if (!('tagName' in child)) return [];
    if (child.tagName === 'a' || child.tagName === 'h2' || child.tagName === 'summary') return [textOf(child)];
    if (child.tagName === 'ul') return [outline(child)];
    return outline(child);
  });
}

describe('navigation from the folders', () => {
  it('lists the index page first, then pages by `order` in the front matter, the number in the file name and the title', async () => {
    const site = await render({
      'index.md': '# Home\n',
      'zebra.md': '---\norder: 0\n---\n# Zebra\n',
      '02-second.md': '# Second\n',
      '10-tenth.md': 'no title\n',
      'banana.md': '# Banana\n',
      'apple-10.md': '# Part 10\n',
      'apple-9.md': '# Part 9\n',
      '2024-06-01.md': '# Dated\n',
    });
    expect(outline(site.element('index.html', 'nav', 'navigation'))).toEqual([
      ['Home', 'Zebra', 'Second', 'Tenth', 'Banana', 'Dated', 'Part 9', 'Part 10'],
    ]);
  });

  it('has a sorted group for each folder, including nested folders', async () => {
    const site = await render({
      'index.md': '# Home\n',
      '2-use/b.md': '# B\n',
      '2-use/deep-dive/c.md': '# C\n',
      '1-install/index.md': '---\nsidebarTitle: Set-up\n---\n# Install\n',
      'last/index.md': '---\norder: 3\n---\n# Last\n',
      'hidden.md': '---\nhidden: true\n---\n# Hidden\n',
    });
    expect(outline(site.element('index.html', 'nav', 'navigation'))).toEqual([
      ['Home'],
      'Set-up',
      ['Set-up'],
      'Use',
      ['B', 'Deep dive', ['C']],
      'Last',
      ['Last'],
    ]);
    expect(site.files.has('hidden.html')).toBe(true);
  });
});

describe('navigation from docs.json', () => {
  const tree = {
    'index.md': '# Home\n',
    'a.md': '# A\n',
    'b/index.md': '# B\n',
    'b/c.md': '---\nsidebarTitle: See\n---\n# C\n',
    'stray.md': '# Stray\n',
    'secret.md': '---\nhidden: true\n---\n# Secret\n',
    'docs.json': {
      navigation: [
        'index',
        { group: 'One', pages: ['a.md', '/b/', { group: 'Deep', pages: ['b/c'] }] },
        { group: 'Empty', pages: ['secret', 'nowhere'] },
        { label: 'Elsewhere', href: 'https://example.org/?a=1&b=2' },
        { title: 'Here', href: '/b/c#x' },
      ],
    },
  };

  it('contains nested groups, external links, and pages by file name, path or address', async () => {
    const site = await render(tree);
    const navigation = site.element('b/c.html', 'nav', 'navigation');
    expect(outline(navigation)).toEqual([['Home'], 'One', ['A', 'B', 'Deep', ['See']], ['Elsewhere', 'Here']]);
    expect(site.links('b/c.html', 'nav', 'navigation')).toEqual([
      '../index.html',
      '../a.html',
      'index.html',
      'c.html',
      'https://example.org/?a=1&b=2',
      'c.html#x',
    ]);
  });

  it('marks the current page, and opens the groups that contain this page', async () => {
    const site = await render(tree);
    const current = site.elements('b/c.html', 'a').filter((each) => attribute(each, 'aria-current') === 'page');
    expect(current.map(textOf)).toEqual(['See']);
    const isOpen = (path: string) => site.elements(path, 'details').map((each) => attribute(each, 'open') !== null);
    expect([isOpen('b/c.html'), isOpen('a.html')]).toEqual([[true], [false]]);
    expect(textOf(site.element('b/c.html', 'p', 'group'))).toBe('Deep');
  });

  it('links to the previous and the next page', async () => {
    const site = await render(tree);
    expect(site.links('b/index.html', 'nav', 'pager')).toEqual(['../a.html', 'c.html']);
    expect(site.links('index.html', 'nav', 'pager')).toEqual(['a.html']);
    expect(site.elements('stray.html', 'nav', 'pager')).toEqual([]);
  });

  it('adds to the export report each listed page that is missing and each page that is not listed', async () => {
    const site = await render(tree);
    expect(site.found('missing_page')).toMatchObject([
      { page: 'docs.json', detail: expect.stringContaining('"nowhere"') },
    ]);
    expect(site.found('unlisted_page').map(({ page }) => page)).toEqual(['stray.md']);
    expect(site.files.has('stray.html')).toBe(true);
  });

  it('can use the tabs and groups format of other documentation tools', async () => {
    const navigation = { tabs: [{ tab: 'Docs', groups: [{ group: 'One', pages: ['a', 'index'] }] }] };
    const site = await render({ ...tree, 'docs.json': { navigation } });
    expect(outline(site.element('a.html', 'nav', 'navigation'))).toEqual(['Docs', ['One', ['A', 'Home']]]);
  });
});

describe('navigation of a large site', () => {
  const pages = Object.fromEntries(
    Array.from({ length: 500 }, (_, at) => [`part-${at % 2}/${String(at).padStart(4, '0')}.md`, `# Page ${at}\n`]),
  );

  it('shows the pages near the current page, and links to the other folders', async () => {
    const started = process.cpuUsage();
    const site = await render({ 'index.md': '# Home\n', ...pages });
    // Rendering takes a second on a slow machine. The limit only detects quadratic time.
    expect(process.cpuUsage(started).user / 1e6).toBeLessThan(20);
    const links = site.links('part-0/0250.html', 'nav', 'navigation');
    expect(links).toContain('0250.html');
    expect(links).toContain('../part-1/0001.html');
    expect(links.length).toBeLessThan(250);
    expect(site.links('part-0/0250.html', 'nav', 'pager')).toEqual(['0248.html', '0252.html']);
    expect(site.pages).toBe(502);
  });

  it('is complete for a site with a few hundred pages', async () => {
    const some = Object.fromEntries(Object.entries(pages).slice(0, 300));
    const site = await render({ 'index.md': '# Home\n', ...some });
    const inNavigation = elementsOf(site.element('index.html', 'nav', 'navigation'));
    expect(inNavigation.filter(({ tagName }) => tagName === 'a')).toHaveLength(301);
  });
});
