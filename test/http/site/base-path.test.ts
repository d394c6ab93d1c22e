import { afterEach, describe, expect, it } from 'vitest';
import { createSiteApp } from '../../../src/http/site/site.ts';
import { BodyCache, SiteServer, SiteSnapshot } from '../../../src/site/index.ts';
import { featuresOf } from '../../helpers/features.ts';
import { TestReleases } from '../../site/helpers.ts';

const releases = new TestReleases();
afterEach(() => releases.remove());

const BASE_PATH = '/team/docs/';

function siteApp() {
  const release = releases.make({
    'index.html': '<a href="/a/">',
    'a/index.html': 'A',
    '404.html': '<a href="/">',
    '_docshelf/features.json': 'no',
  });
  const current = new SiteSnapshot(release, [], { trailingSlash: 'auto', basePath: BASE_PATH });
  const server = new SiteServer(new BodyCache(1024 ** 2), { current });
  return createSiteApp({
    server,
    basePath: BASE_PATH,
    state: () => 'ready',
    features: () => featuresOf(),
    search: async () => new Response('found'),
  });
}

describe('site with a base path', () => {
  it.each([
    ['/team/docs/', 200],
    ['/team/docs/a/', 200],
    ['/', 404],
    ['/a/', 404],
    ['/team/docsa/', 404],
    ['/team/', 404],
    ['/team/docs/none', 404],
    ['/_docshelf/search', 404],
    ['/_docshelf/features.json', 404],
  ])('serves content only in the base path: %s returns %i', async (path, status) => {
    expect((await siteApp().request(path)).status).toBe(status);
  });

  it('rewrites links in its pages', async () => {
    expect(await (await siteApp().request('/team/docs/')).text()).toBe('<a href="/team/docs/a/">');
  });

  it('serves the 404 page of docshelf outside the base path, and the 404 page of the site inside the base path', async () => {
    expect(await (await siteApp().request('/none')).text()).toContain('There is no documentation at this address.');
    expect(await (await siteApp().request('/team/docs/none')).text()).toBe('<a href="/team/docs/">');
  });

  it('redirects the base path and its folders to the address with a trailing slash, and keeps the query', async () => {
    const location = async (path: string) => {
      const response = await siteApp().request(path);
      return [response.status, new URL(response.headers.get('location') ?? '', `http://localhost${path}`).pathname];
    };
    expect((await siteApp().request('/team/docs?q=1')).headers.get('location')).toBe('/team/docs/?q=1');
    expect(await location('/team/docs')).toEqual([308, '/team/docs/']);
    expect(await location('/team/docs/a')).toEqual([308, '/team/docs/a/']);
  });

  it('serves the routes of docshelf in the base path', async () => {
    const features = await siteApp().request('/team/docs/_docshelf/features.json');
    expect(await features.json()).toMatchObject({ domain: 'acme' });
    expect(await (await siteApp().request('/team/docs/_docshelf/search?q=a')).text()).toBe('found');
  });
});
