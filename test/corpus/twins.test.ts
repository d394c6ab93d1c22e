import { beforeAll, describe, expect, it } from 'vitest';
import { isPage } from '../../src/domain/release.ts';
import { extractPage } from '../../src/search/extract/extract-page.ts';
import { markdownOf } from '../../src/web/markdown/index.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { markdownContents, missingFrom } from '../helpers/markdown-contents.ts';
import { readArchive } from '../helpers/read-archive.ts';

/** Differences between VitePress's pages and their sources: an included file, an expression, and rendered formulas. */
const SHOWN_OTHERWISE = {
  codes: {
    'guide/markdown.md': ['<!--@include: @/snippets/snippet-with-region.js{2,4}-->'],
    'guide/using-vue.md': ['Hello {{ 1 + 1 }}'],
  },
  tables: { 'guide/markdown.md': [expect.stringMatching(/^equation \| description \| \$/)] },
};

describe.skipIf(corpus === undefined)(`the Markdown version of VitePress pages${whyNoCorpus}`, () => {
  let files: ReadonlyMap<string, Buffer>;
  beforeAll(async () => {
    files = await readArchive(bundleFile('vitepress-docs.zip'));
  });

  it('has the words, code and tables of the source files', { timeout: 300_000 }, () => {
    let [pages, words, lost] = [0, 0, 0];
    const codes: Record<string, string[]> = {};
    const tables: Record<string, string[]> = {};
    for (const [path, bytes] of files) {
      const html = files.get(path.replace(/\.md$/, '.html'));
      if (!path.endsWith('.md') || html === undefined) continue;
      const address = `/${path.slice(0, -3)}`;
      const made = markdownContents(
        markdownOf({ path: `${address.slice(1)}.html`, address, html: `${html}` }).markdown,
      );
      const source = markdownContents(withoutContainers(bytes.toString('utf8')));
      pages += 1;
      words += source.words.length;
      lost += missingFrom(source.words, made.words).length;
      for (const [missing, from, of] of [
        [codes, source.codes, made.codes],
        [tables, source.tables, made.tables],
      ] as const) {
        const found = missingFrom(from, of);
        if (found.length > 0) missing[path] = found;
      }
    }
    expect(pages).toBeGreaterThan(30);
    expect(lost / words).toBeLessThan(0.02);
    expect({ codes, tables }).toEqual(SHOWN_OTHERWISE);
  });
});

describe
  .skipIf(corpus === undefined)
  .each(['docusaurus-classic.tar.gz', 'nextjs-a-2024-06-01.tar.gz', 'sphinx-manual.tar.gz', 'starlight.tar.zst'])(
  `the Markdown version of the pages in %s${whyNoCorpus}`,
  (name) => {
    it('contains at least 98 % of the words that the search indexes', { timeout: 300_000 }, async () => {
      let [words, lost] = [0, 0];
      for (const [path, bytes] of await readArchive(bundleFile(name))) {
        const html = bytes.toString('utf8');
        const page = isPage(path) ? extractPage({ path, html, url: `/${path}` }) : null;
        if (page === null) continue;
        const { markdown } = markdownOf({ path, html, address: `/${path}` });
        // Several terms of one definition have the same text.
        const text = [...new Set(page.sections.map((section) => section.text))].join('\n');
        const source = text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
        words += source.length;
        lost += missingFrom(source, [...markdownContents(markdown).words]).length;
      }
      expect(words).toBeGreaterThan(10_000);
      expect(lost / words).toBeLessThan(0.02);
    });
  },
);

/** Removes VitePress's extensions of Markdown: containers, heading ids, line highlights, and escaped forms of such marks. */
function withoutContainers(markdown: string): string {
  let fence = '';
  const lines = markdown.split('\n').map((line) => {
    const mark = /^\s*(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) {
      if (fence === '') fence = mark;
      else if (mark.startsWith(fence) && /^\s*[`~]+\s*$/.test(line)) fence = '';
      return line;
    }
    if (fence !== '') return line.replace(/\s*(?:\/\/|<!--|#) \[!code [^\]]*\](?: -->)?/, '');
    return line
      .replace(/^\s*:::+\s*([\w-]+)?(\s*\{[^}]*\})?/, '')
      .replace(/\s*\{#[\w-]+\}$/, '')
      .replace(/^\[\[toc\]\]$/i, '');
  });
  return lines.join('\n').replaceAll('[!!code', '[!code').replaceAll('<!--@@include', '<!--@include');
}
