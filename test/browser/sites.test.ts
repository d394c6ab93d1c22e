import { execFile } from 'node:child_process';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { renderFolder } from '../export/markdown/render-folder.ts';
import { bundleFile, corpus, whyNoCorpus } from '../helpers/corpus.ts';
import { openBench } from '../helpers/daemon.ts';
import { writeFiles } from '../helpers/write-files.ts';
import { hasChromium, type Reader, useChromium, whyNoChromium } from './reader.ts';
import { serveBundles } from './shelf-of-bundles.ts';

/** Pages of different kinds, with the addresses that their sites use. */
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

const MANUAL = 'manual-export-2026-11-01.tar.gz';
const domainOf = (archive: string): string => /^[a-z]+/.exec(basename(archive))?.[0] ?? '';

describe.skipIf(!hasChromium)(`a browser without a network${whyNoChromium}`, () => {
  const bench = openBench(afterAll);
  const chromium = useChromium();
  let manual: ReadonlyMap<string, Uint8Array>;
  let port: string;

  beforeAll(async () => {
    manual = (await renderFolder(join(import.meta.dirname, '../../docs'), { version: '2026-11-01' })).files;
    const archives = [await packManual(), ...(corpus === undefined ? [] : Object.keys(PAGES).map(bundleFile))];
    const bundles = archives.map((archive) => {
      const domain = domainOf(archive);
      return { archive, entry: { domain, hosts: [`${domain}.localhost`] } };
    });
    port = new URL((await serveBundles(bench, bundles)).site).port;
  });

  describe.skipIf(corpus === undefined)(`on public sites${whyNoCorpus}`, () => {
    it.each(Object.entries(PAGES))('displays pages of %s with all of their resources', async (name, paths) => {
      const reader = await open(name);
      for (const path of paths) await expectPage(reader, path);
      console.log(`figure: ${name}: ${new Set(reader.blocked).size} addresses outside the site blocked`);
    });
  });

  it.skipIf(corpus === undefined)(
    `searches with Pagefind, whose index contains gzip data that docshelf serves unchanged${whyNoCorpus}`,
    async () => {
      const reader = await open('starlight.tar.zst');
      await reader.load('/getting-started/');
      // As text, because it calls `import` of the browser and not of the test runner.
      const found = await reader.page.evaluate(`(async () => {
      const pagefind = await import('/pagefind/pagefind.js');
      const { results } = await pagefind.search('sidebar');
      return (await results[0].data()).url;
    })()`);
      expect(found).toMatch(/^\/.+\/$/);
      expect(reader.failures).toEqual([]);
    },
  );

  it('displays the docshelf manual without external requests or missing files', async () => {
    const reader = await open(MANUAL);
    const pages = [...manual.keys()].filter((path) => path.endsWith('.html') && path !== '404.html');
    for (const page of pages) await expectPage(reader, `/${page.replace(/(?:index)?\.html$/, '')}`);
    expect(pages.length).toBeGreaterThanOrEqual(5);
    expect(reader.blocked).toEqual([]);
    expect(reader.complaints).toEqual([]);
  });

  async function packManual(): Promise<string> {
    const folder = await bench.folder();
    await writeFiles(join(folder, 'site'), Object.fromEntries(manual));
    const archive = join(folder, MANUAL);
    await promisify(execFile)('tar', ['-czf', archive, '-C', join(folder, 'site'), '.']);
    return archive;
  }

  /** Opens a site under its own host. Browsers resolve names with this ending to loopback (RFC 6761, section 6.3). */
  function open(name: string): Promise<Reader> {
    return chromium.open(`http://${domainOf(name)}.localhost:${port}`);
  }

  async function expectPage(reader: Reader, path: string): Promise<void> {
    await reader.load(path);
    expect([path, reader.failures]).toEqual([path, []]);
    expect(await reader.page.locator('h1').first().innerText()).not.toBe('');
  }
});
