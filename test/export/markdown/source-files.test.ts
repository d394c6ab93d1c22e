import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { attribute, render, renderFolder, textOf, writeTree } from './render-folder.ts';

/** Nested lists, each ten times as long as the one before: a billion words in ten lines. */
const bombLines = (levels: number) =>
  Array.from({ length: levels }, (_, at) => `a${at + 1}: &a${at + 1} [${Array(10).fill(`*a${at}`).join(', ')}]\n`).join(
    '',
  );

describe('files of a Markdown folder', () => {
  it('are read with a byte order mark, as UTF-16 and with any line ends', async () => {
    const text = '---\ntitle: Grüße\n---\nText.\n';
    const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')]);
    const site = await render({
      'index.md': `\ufeff${text}`,
      'a.md': text.replaceAll('\n', '\r\n'),
      'b.md': utf16,
      'c.md': text.replaceAll('\n', '\r'),
    });
    for (const path of ['index.html', 'a.html', 'b.html', 'c.html']) {
      expect(textOf(site.element(path, 'h1')), path).toBe('Grüße');
      expect(site.text(path), path).toContain('<p>Text.</p>');
    }
    expect(site.found('not_utf8')).toEqual([]);
  });

  it('are read as Windows-1252 if they are not valid UTF-8, and are each listed once in the export report', async () => {
    const site = await render({ 'index.md': Buffer.from('# Gr\xfc\xdfe \x96 hier\n', 'latin1') });
    expect(textOf(site.element('index.html', 'h1'))).toBe('Grüße – hier');
    expect(site.found('not_utf8')).toMatchObject([{ page: 'index.md' }]);
  });

  it.each([
    ['broken YAML', '---\ntitle: "a\n---\nx\n', 'line 3'],
    ['a colon in plain text', '---\ntitle: x\ndescription: a: b\n---\n', 'line 3'],
    ['a key twice', '---\ntitle: a\ntags: []\ntitle: b\n---\n', 'line 4'],
    ['no keys', '---\njust words\n---\n', 'line 2'],
    ['a list instead of a title', '---\norder: 1\ntitle: [a]\n---\n', 'line 3'],
    ['a word instead of an order', '---\norder: first\n---\n', 'line 2'],
    ['an invalid language', '---\ntitle: x\nlanguage: e n\n---\n', 'line 3'],
    ['a word instead of a flag', '---\ntitle: x\ndraft: maybe\n---\n', 'line 3'],
    ['an alias bomb', `---\na0: &a0 [x]\n${bombLines(9)}---\n`, 'line 2'],
  ])('are rejected if their front matter contains %s, and the error names the file and line', async (_, text, line) => {
    const error = await render({ 'index.md': '# Home\n', 'guides/bad.md': text }).then(
      () => null,
      (reason: unknown) => reason as Error & { code: string },
    );
    expect(error?.code).toBe('bad_source');
    expect(error?.message).toContain('"guides/bad.md"');
    expect(error?.message).toContain(line);
  });

  it('have no front matter if the block between lines of --- is empty or has no end', async () => {
    const site = await render({
      'index.md': '---\n# Title\n\ntext\n',
      'a.md': '---\n---\n# A\n',
      'b.md': 'B\n===\nx\n',
    });
    expect(site.text('index.html')).toContain('<hr>');
    expect(textOf(site.element('a.html', 'h1'))).toBe('A');
    expect(textOf(site.element('b.html', 'h1'))).toBe('B');
  });

  it('keep the exact text of front matter values that look like a number', async () => {
    const site = await render({ 'index.md': '---\ntitle: 1.0\ntags: 2.0, true\n---\nx\n' });
    expect(textOf(site.element('index.html', 'h1'))).toBe('1.0');
    expect(site.meta('index.html', 'keywords')).toBe('2.0, true');
  });

  it('cause an error that names the file if a page is too large', async () => {
    const large = Buffer.alloc(8 * 1024 ** 2 + 1, 'a');
    await expect(render({ 'index.md': '# Home\n', 'huge.md': large })).rejects.toMatchObject({
      code: 'bad_source',
      message: expect.stringContaining('huge.md'),
    });
  });

  it('are never read through a symbolic link to a file outside the folder', async () => {
    const outside = writeTree({ 'secret.md': '# Secret\n', 'secret.png': 'secret' });
    const dir = writeTree({ 'index.md': '# Home\n', 'real/page.md': '# Page\n' });
    symlinkSync(join(outside, 'secret.md'), join(dir, 'a.md'));
    symlinkSync(join(outside, 'secret.png'), join(dir, 'a.png'));
    symlinkSync(outside, join(dir, 'folder'));
    symlinkSync(join(dir, 'real/page.md'), join(dir, 'inside.md'));
    symlinkSync(join(dir, 'nowhere.md'), join(dir, 'dangling.md'));
    const site = await renderFolder(dir);
    expect([...site.files.values()].filter((bytes) => bytes.includes('ecret'))).toEqual([]);
    expect(site.found('left_out').map(({ page }) => page)).toEqual(['a.md', 'a.png', 'dangling.md', 'folder']);
    expect(textOf(site.element('inside.html', 'h1'))).toBe('Page');
  });

  it('are named in NFC, so that links in any Unicode form work', async () => {
    const dir = writeTree({ 'index.md': '[a](u\u0308ber.md) [b](%C3%BCber.md) [c](über.md)\n' });
    mkdirSync(join(dir, 'x'));
    writeFileSync(join(dir, 'u\u0308ber.md'), '# Über\n');
    const site = await renderFolder(dir);
    expect(site.files.has('über.html')).toBe(true);
    expect(site.links('index.html', 'article')).toEqual(Array(3).fill('%C3%BCber.html'));
  });
});

describe('title of a Markdown page', () => {
  const titleOf = async (markdown: string) => {
    const site = await render({ 'index.md': '# Home\n', 'a.md': markdown });
    return [textOf(site.element('a.html', 'title')).replace(' · Home', ''), textOf(site.element('a.html', 'h1'))];
  };

  it('is the first heading, even if comments precede it', async () => {
    const comments = '<!-- License: MIT\n-- all rights -->\n\n<!-- lint -->\n';
    expect(await titleOf(`${comments}# Set up\n\ntext`)).toEqual(['Set up', 'Set up']);
    expect(await titleOf(`${comments}Set up\n===\n\ntext`)).toEqual(['Set up', 'Set up']);
  });

  it('is plain text without the Markdown of the heading', async () => {
    const site = await render({
      'index.md': '# `a` &amp; *b* [c][site] \\* <i>d</i> ![e](e.svg)\n\n[site]: https://a.example\n',
    });
    expect(textOf(site.element('index.html', 'title'))).toBe('a & b c * d e');
    expect(site.links('index.html', 'h1')).toEqual(['https://a.example']);
  });

  it.each(['`int[][]` values', 'arr[0][1]', 'Array[Int][String]'])(
    'contains the brackets of the heading %s, because these brackets are not a link',
    async (heading) => {
      const text = heading.replaceAll('`', '');
      expect(await titleOf(`# ${heading}\n\ntext\n\n[site]: /x\n`)).toEqual([text, text]);
    },
  );

  it('can be the target of links, like each other heading', async () => {
    const markdown = '# Set up\n\n[first](#set-up) [second](#set-up-1)\n\n## Set up\n';
    const site = await render({ 'index.md': '# Home\n', 'a.md': markdown });
    expect(attribute(site.element('a.html', 'article'), 'id')).toBe('set-up');
    expect(attribute(site.element('a.html', 'h2'), 'id')).toBe('set-up-1');
  });
});

describe('docs.json settings', () => {
  it.each([
    ['invalid JSON', '{"name": "x",}'],
    ['no object', '[]'],
    ['a wrong type', { name: 1 }],
    ['a hue out of range', { hue: 400 }],
    ['an invalid color', { colors: { primary: 'teal' } }],
    ['an invalid address', { url: 'docs.acme.dev' }],
    ['an invalid language', { languages: ['e n'] }],
    ['an invalid default language', { language: '?' }],
    ['an entry without title', { navigation: [{ pages: ['index'] }] }],
    ['a link without label', { links: [{ href: '/' }] }],
  ])('are rejected if they contain %s', async (_, docs) => {
    const run = render({ 'index.md': '# Home\n', 'docs.json': docs });
    await expect(run).rejects.toMatchObject({ code: 'bad_source', message: expect.stringContaining('docs.json') });
  });

  it('are rejected with an error that names the path of the invalid key', async () => {
    const docs = { navigation: ['index', { group: 'A', pages: [{ group: 'B', pages: 1 }] }] };
    await expect(render({ 'index.md': '# H\n', 'docs.json': docs })).rejects.toMatchObject({
      fields: { key: 'navigation[1].pages[0].pages' },
    });
  });

  it('may contain keys of other programs, which are listed in the export report', async () => {
    const site = await render({ 'index.md': '# H\n', 'docs.json': { $schema: 'x', theme: 'y', name: 'Acme' } });
    expect(site.found('unknown_setting')).toMatchObject([{ detail: expect.stringContaining('theme') }]);
    expect(site.files.has('docs.json')).toBe(false);
  });

  it('are overridden by the settings for the exported version', async () => {
    const tree = { 'index.md': '# H\n', 'docs.json': { name: 'New', versions: { v1: { name: 'Old' } } } };
    expect((await render(tree, { version: 'v1' })).meta('index.html', 'og:site_name')).toBe('Old');
    expect((await render(tree, { version: 'v2' })).meta('index.html', 'og:site_name')).toBe('New');
  });

  it('set the color of the site', async () => {
    const hueOf = async (docs: object) => {
      const site = await render({ 'index.md': '# H\n', 'docs.json': docs });
      const css = site.paths.find((path) => path.endsWith('.css')) ?? '';
      return /^:root\{--hue:(\d+);--tint:(\d)\}/.exec(site.text(css))?.slice(1);
    };
    expect(await hueOf({ hue: 45 })).toEqual(['45', '1']);
    // Hues of the reference conversion in CSS Color 4: red 29.23, pure blue 264.05.
    expect(await hueOf({ colors: { primary: '#f00' } })).toEqual(['29', '1']);
    expect(await hueOf({ colors: { primary: '#0000FF' } })).toEqual(['264', '1']);
    expect(await hueOf({ colors: { primary: '#777777' } })).toEqual(['0', '0']);
  });
});

describe('the key `since` in front matter', () => {
  const tree = {
    'index.md': 'See [the later page](later.md#x), <a href="later.md">raw</a>.\n',
    'later.md': '---\nsince: v1.10\n---\n# Later\n',
  };

  it('removes a page from earlier versions, and turns links to the removed page into text', async () => {
    const site = await render(tree, { version: 'v1.9' });
    expect(site.files.has('later.html')).toBe(false);
    expect(textOf(site.element('index.html', 'article'))).toContain('See the later page, raw.');
    expect(site.links('index.html', 'article')).toEqual([null]);
    expect(site.found('broken_link')).toEqual([]);
  });

  it('marks a page as new only in the version that the key names', async () => {
    for (const [version, marks] of [
      ['v1.10', 1],
      ['v1.11', 0],
      [null, 0],
    ] as const) {
      const site = await render(tree, { version });
      expect(site.links('index.html', 'article'), String(version)).toEqual(['later.html#x', 'later.html']);
      expect(site.elements('index.html', 'span', 'tag'), String(version)).toHaveLength(marks);
    }
  });
});
