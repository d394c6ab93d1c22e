import { afterEach, describe, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { siteEntry, startServing } from './start.ts';

const bench = openBench(afterEach);

const SITE = bundle('boxed', {
  'index.html': '<!doctype html><title>Home</title><a href="/keys">Keys</a>',
  'keys/index.html': '<!doctype html><html lang="en"><title>Rotate keys</title><h1>Keys</h1><p>Rotate the keys.</p>',
  '404.html': '<!doctype html><title>Gone</title><h1>Gone</h1>',
  'menu.html': '<li>a part of a page',
});
const TAG = /<script type="module" src="(?<src>[^"]+)"(?: data-shelf)?><\/script>/;

const start = (server: object) =>
  startServing(bench, { 'docs-2024-06-01.tar.gz': SITE }, { server, search: { widget: true }, log: { access: false } });

describe('search.widget', () => {
  test('adds the search box to every page until a reload turns the box off', async () => {
    const server = { basePath: '/team/' };
    const daemon = await start(server);
    const textOf = async (path: string) => (await fetch(daemon.site + path)).text();
    for (const path of ['/team/', '/team/keys/', '/team/nowhere']) {
      const page = await textOf(path);
      const src = TAG.exec(page)?.groups?.src ?? '';
      expect(src, path).toMatch(/^\/team\/_docshelf\/assets\/search-box-[0-9a-f]{16}\/loader\.js$/);
      expect(page, path).toContain('<noscript><docshelf-search><a href="/team/_docshelf/search">Search</a>');
      const script = await fetch(daemon.site + src);
      expect([script.status, script.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
    expect(await textOf('/team/menu.html')).toBe('<li>a part of a page');
    await daemon.until(({ search }) => search.keyword === 'ready');
    const found = await fetch(`${daemon.site}/team/_docshelf/search?view=box&legs=words&q=rotaet`);
    expect(await found.json()).toMatchObject({
      results: [{ path: expect.stringMatching(/^\/team\/keys/) }],
      corrected: 'rotate',
      facets: { tags: [] },
    });
    await daemon.rewriteConfig({ server, search: { widget: false } });
    await daemon.until(({ lastReload }) => lastReload?.ok === true);
    await expect.poll(() => textOf('/team/keys/'), { timeout: 30_000 }).not.toMatch(TAG);
  });

  test('counts searches of the box in the metrics, and logs the queries only with log.queries', async () => {
    const daemon = await start({});
    await daemon.until(({ search }) => search.keyword === 'ready');
    const sendRequest = (query: string) => fetch(`${daemon.site}/_docshelf/search?view=box&legs=words&q=${query}`);
    const metrics = async (): Promise<string[]> => (await (await fetch(`${daemon.admin}/metrics`)).text()).split('\n');
    for (const query of ['rotate', 'rotaet', 'qqzzxxw']) expect((await sendRequest(query)).status).toBe(200);
    const lines = await metrics();
    expect(lines).toContain('docshelf_searches_total{result="found"} 2');
    expect(lines).toContain('docshelf_searches_total{result="none"} 1');
    expect(lines).toContain('docshelf_search_corrections_total 1');
    expect(lines).toContain('docshelf_search_duration_seconds_count 3');
    const built = lines.find((line) => line.startsWith('docshelf_search_index_built_timestamp_seconds ')) ?? '';
    expect(Number(built.split(' ')[1])).toBeGreaterThan(1_700_000_000);
    expect(lines.join('\n') + daemon.log()).not.toMatch(/rotaet|qqzzxxw/);
    await daemon.rewriteConfig({ search: { widget: true }, log: { queries: true } });
    await daemon.until(({ lastReload }) => lastReload?.ok === true);
    await sendRequest('qqzzxxw');
    await expect.poll(() => daemon.log(), { timeout: 30_000 }).toContain('"query":"qqzzxxw"');
  });

  test('keeps the search box after a reload with search.enabled: false, because the search runs until a restart', async () => {
    const config = (isOn: boolean) => ({
      sites: [siteEntry('on', { search: { enabled: isOn } }), siteEntry('off', { search: { enabled: !isOn } })],
      search: { widget: true },
    });
    const archives = { 'on/docs-2024-06-01.tar.gz': SITE, 'off/docs-2024-06-01.tar.gz': SITE };
    const daemon = await startServing(bench, archives, config(true));
    const look = async () => {
      const pages = ['on', 'off'].map(async (domain) => {
        const at = `${daemon.site}/${domain}`;
        const report = (await (await fetch(`${at}/_docshelf/features.json`)).json()) as {
          features: { id: string; enabled: boolean }[];
        };
        return [
          TAG.test(await (await fetch(`${at}/keys/`)).text()),
          (await fetch(`${at}/_docshelf/search?q=rotate`)).status === 200,
          report.features.find(({ id }) => id === 'localSearch')?.enabled,
        ];
      });
      return Promise.all(pages);
    };
    expect(await look()).toEqual([
      [true, true, true],
      [false, false, false],
    ]);
    const before = (await daemon.status()).lastReload?.at;
    await daemon.rewriteConfig(config(false));
    const { pending } = await daemon.until(({ lastReload }) => lastReload !== null && lastReload.at !== before);
    expect(pending).toEqual(['sites[on].search.enabled', 'sites[off].search.enabled']);
    expect(await look()).toEqual([
      [true, true, true],
      [false, false, false],
    ]);
  });
});
