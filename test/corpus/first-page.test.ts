import { describe, expect, it } from 'vitest';
import { readFirstPage } from '../../src/web/first-page.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { readArchive } from '../helpers/read-archive.ts';

describe.skipIf(corpus === undefined)(`readFirstPage() of real sites${whyNoCorpus}`, () => {
  it.each([
    ['nextjs-a-2024-06-01.tar.gz', 'index.html', 'Hono', /^e Hono Web framework/, 'en'],
    ['docusaurus-classic.tar.gz', 'index.html', 'Hello from My Site', /^Description will go into .* <head \/>$/, 'en'],
    ['sphinx-manual.tar.gz', 'index.html', 'Sphinx documentation', null, 'en'],
    ['vitepress-docs.zip', 'index.html', 'VitePress', /^VitePress is a Vite & Vue powered/, 'en-US'],
    ['vitepress-docs.zip', 'fa/index.html', 'VitePress', /^ویت‌پرس/, 'fa-IR'],
    ['starlight.tar.zst', 'index.html', 'Starlight 🌟 Build documentation sites with Astro', /^Starlight helps/, 'en'],
    ['postgres-15.tar.gz', 'html/index.html', 'PostgreSQL 15.20 Documentation', null, null],
  ])(
    'reads title, description and language from a page, in the bundle %s: the page %s has the title %s',
    { timeout: 120_000 },
    async (name, path, title, description, language) => {
      const page = readFirstPage((await readArchive(bundleFile(name))).get(path)?.toString() ?? '');
      expect([page.title, page.language, page.refresh]).toEqual([title, language, null]);
      if (description === null) expect(page.description).toBeNull();
      else expect(page.description).toMatch(description);
    },
  );
});
