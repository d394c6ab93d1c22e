import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderFolder } from '../export/markdown/render-folder.ts';
import { bundleFile, corpus, importBundle, newHome, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { hasChromium, launchChromium, Reader, whyNoChromium } from './reader.ts';

/** Pages of different kinds, as their sites link to them. */
const PAGES = {
  'vitepress-docs.zip': ['/', '/guide/markdown', '/reference/runtime-api', '/fa/guide/markdown', '/ja/guide/markdown'],
  'docusaurus-classic.tar.gz': ['/', '/docs/intro', '/docs/1.0/intro', '/fr/docs/next/intro', '/blog/long-blog-post'],
  'starlight.tar.zst': [
    '/',
    '/getting-started/',
    '/components/tabs/',
    '/fr/guides/route-data/',
    '/zh-cn/components/file-tree/',
  ],
};

describe.skipIf(!hasChromium)(`in a browser without a network${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  let browser: Browser;

  beforeAll(async () => {
    browser = await launchChromium();
    bench.onEnd(() => browser.close());
  });

  describe.skipIf(corpus === undefined)(`the sites of others${whyNoCorpus}`, () => {
    it.each(Object.entries(PAGES))('pages of %s come with all that is theirs', async (name, paths) => {
      const reader = await open(bundleFile(name));
      for (const path of paths) await expectPage(reader, path);
      console.log(`figure: ${name}: ${new Set(reader.blocked).size} addresses outside the site blocked`);
      await reader.close();
    });
  });

  it.skipIf(corpus === undefined)(
    `Pagefind reads its index, which is gzip inside, as it is${whyNoCorpus}`,
    async () => {
      const reader = await open(bundleFile('starlight.tar.zst'));
      await reader.load('/getting-started/');
      // As a text: the browser's own import is meant, and not the test runner's.
      const found = await reader.page.evaluate(`(async () => {
      const pagefind = await import('/pagefind/pagefind.js');
      const { results } = await pagefind.search('sidebar');
      return (await results[0].data()).url;
    })()`);
      expect(found).toMatch(/^\/.+\/$/);
      expect(reader.failures).toEqual([]);
      await reader.close();
    },
  );

  it('pages of our own manual ask for nothing outside, and nothing is missing', async () => {
    const folder = await bench.folder();
    const { files: manual } = await renderFolder(join(import.meta.dirname, '../../docs'), { version: '2026-11-01' });
    for (const [path, bytes] of manual) {
      await mkdir(dirname(join(folder, 'site', path)), { recursive: true });
      await writeFile(join(folder, 'site', path), bytes);
    }
    const archive = join(folder, 'docshelf-export-2026-11-01.tar.gz');
    await promisify(execFile)('tar', ['-czf', archive, '-C', join(folder, 'site'), '.']);

    const reader = await open(archive);
    const pages = [...manual.keys()].filter((path) => path.endsWith('.html') && path !== '404.html');
    for (const page of pages) await expectPage(reader, `/${page.replace(/(?:index)?\.html$/, '')}`);
    expect(pages.length).toBeGreaterThanOrEqual(5);
    expect(reader.blocked).toEqual([]);
    expect(reader.complaints).toEqual([]);
    await reader.close();
  });

  async function open(archive: string): Promise<Reader> {
    const folder = await newHome(bench);
    const { version } = await importBundle(bench, folder, archive);
    const daemon = await bench.start(null, { folder });
    await daemon.untilServing(version);
    return Reader.open(browser, daemon.site);
  }

  async function expectPage(reader: Reader, path: string): Promise<void> {
    await reader.load(path);
    expect([path, reader.failures]).toEqual([path, []]);
    expect(await reader.page.locator('h1').first().innerText()).not.toBe('');
  }
});
