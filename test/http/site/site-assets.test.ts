import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { isFree } from '../../../src/http/sign-in/guarded-site.ts';
import { createSiteApp } from '../../../src/http/site/site.ts';
import { SiteAssets } from '../../../src/http/site/site-assets.ts';
import { BodyCache, SiteServer } from '../../../src/serve/index.ts';
import { featuresOf } from '../../helpers/features.ts';

const FEATURES = featuresOf();

function siteWith(assets: SiteAssets) {
  const server = new SiteServer(new BodyCache(0), { current: null });
  return createSiteApp({ server, basePath: '/docs/', assets, state: () => 'ready', features: () => FEATURES });
}

describe('/_docshelf/assets/ of a site', () => {
  const assets = new SiteAssets();
  const app = siteWith(assets);

  it('has the search box, for good, below the base path, without a release', async () => {
    const script = await app.request(`/docs/${assets.searchBox.loader}`, { headers: { 'Accept-Encoding': 'gzip' } });
    expect([script.status, script.headers.get('content-type'), script.headers.get('content-encoding')]).toEqual([
      200,
      'text/javascript; charset=utf-8',
      'gzip',
    ]);
    expect(script.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const plain = await (await app.request(`/docs/${assets.searchBox.loader}`)).text();
    expect(gunzipSync(await script.arrayBuffer()).toString()).toBe(plain);
    const small = await app.request(`/docs/${assets.searchBox.loader}`, {
      headers: { 'Accept-Encoding': 'gzip, deflate, br' },
    });
    expect(small.headers.get('content-encoding')).toBe('br');
    expect(brotliDecompressSync(await small.arrayBuffer()).toString()).toBe(plain);
    expect((await app.request(`/${assets.searchBox.loader}`)).status).toBe(404);
  });

  it('answers HEAD without a body, and leads the address that templates name to the script of this version', async () => {
    const head = await app.request(`/docs/${assets.searchBox.loader}`, { method: 'HEAD' });
    expect([head.status, await head.text()]).toEqual([200, '']);
    const named = await app.request('/docs/_docshelf/assets/search-box.js');
    expect([named.status, named.headers.get('location'), named.headers.get('cache-control')]).toEqual([
      302,
      `/docs/${assets.searchBox.byHand}`,
      'no-cache',
    ]);
  });

  it('is free of sign-in for one folder of names, and nothing besides', () => {
    expect(isFree(`/${assets.searchBox.loader}`)).toBe(true);
    for (const target of ['assets/../secret', 'assets/a/b/c.js', 'assets/.a/b', 'assets/a%2fb', 'assets/', 'v/a'])
      expect(isFree(`/_docshelf/${target}`), target).toBe(false);
  });
});
