import { afterEach, expect, test } from 'vitest';
import { openBench } from '../helpers/daemon.ts';
import { bundle } from './bundles.ts';
import { startServing, untilSearchable } from './start.ts';

const bench = openBench(afterEach);

const SITE = bundle('found', {
  'index.html': '<!doctype html><html lang="de"><title>Start</title><a href="/keys">Keys</a>',
  'keys/index.html':
    '<!doctype html><html lang="de"><title>Keys</title><h1>Keys</h1><h2 id="care">Care</h2><p>Rotate the keys.</p>',
});
const NAVIGATION = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' };

/** Starts a daemon of this site with search. */
async function start(server: object, search: object = {}) {
  const config = { server, search, log: { access: false } };
  const daemon = await startServing(bench, { 'docs-2024-06-01.tar.gz': SITE }, config);
  await untilSearchable(daemon);
  return daemon;
}

test('the search results page works under a base path, in the language of the site', async () => {
  const daemon = await start({ basePath: '/team/' });
  const address = `${daemon.site}/team/_docshelf/search?q=rotate`;
  const page = await fetch(address, { headers: NAVIGATION });
  const { headers } = page;
  expect([page.status, headers.get('content-language'), headers.get('cache-control')]).toEqual([200, 'de', 'no-store']);
  const html = await page.text();
  expect(html).toContain('<a dir="auto" href="/team/keys#care">Care</a>');
  expect(html).toContain('<mark>Rotate</mark> the keys.');
  expect(html).toContain('Ergebnisse: 1');
  const style = new URL(/<link rel="stylesheet" href="([^"]+)">/.exec(html)?.[1] ?? '', address);
  expect((await fetch(style)).headers.get('content-type')).toBe('text/css; charset=utf-8');
  expect((await fetch(`${daemon.site}/team/_docshelf/opensearch.xml`)).status).toBe(404);
});

test('every page with the search box links to an OpenSearch description if the public URL is known', async () => {
  const daemon = await start({ basePath: '/team/', publicUrl: 'https://docs.acme.test' }, { widget: true });
  const page = await (await fetch(`${daemon.site}/team/keys`)).text();
  const href = /<link rel="search" type="application\/opensearchdescription\+xml" title="[^"]+" href="([^"]+)">/.exec(
    page,
  )?.[1];
  expect(href).toBe('/team/_docshelf/opensearch.xml');
  const described = await fetch(daemon.site + href);
  expect(described.headers.get('content-type')).toBe('application/opensearchdescription+xml; charset=utf-8');
  const text = await described.text();
  expect(text).toContain('template="https://docs.acme.test/team/_docshelf/search?q={searchTerms}"');
  expect(text).toContain('<Description>Diese Dokumentation durchsuchen</Description>');
  await daemon.rewriteConfig({ server: { publicUrl: 'https://other.test' }, search: { widget: false } });
  await daemon.until(({ lastReload }) => lastReload?.ok === true);
  expect(await (await fetch(daemon.site + href)).text()).toContain(
    'template="https://other.test/team/_docshelf/search?',
  );
  await expect
    .poll(async () => (await fetch(`${daemon.site}/team/keys`)).text(), { timeout: 30_000 })
    .not.toContain('rel="search"');
});
