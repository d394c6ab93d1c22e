import { describe, expect, it } from 'vitest';
import { releases, serve } from '../../site/helpers.ts';
import { siteApp } from './site-example.ts';

const BASE_PATH = '/team/docs/';

function mountedApp() {
  const release = releases.make({
    'index.html': '<a href="/a/">',
    'a/index.html': 'A',
    '404.html': '<a href="/">',
    '_docshelf/features.json': 'no',
  });
  const { server } = serve([release], { basePath: BASE_PATH });
  return siteApp({ server, basePath: BASE_PATH, search: async () => new Response('found') });
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
    expect((await mountedApp().request(path)).status).toBe(status);
  });

  it('serves the 404 page of docshelf outside the base path, and the 404 page of the site inside the base path', async () => {
    expect(await (await mountedApp().request('/none')).text()).toContain('There is no documentation at this address.');
    expect(await (await mountedApp().request('/team/docs/none')).text()).toBe('<a href="/team/docs/">');
  });

  it('redirects the base path and its folders to the address with a trailing slash, and keeps the query', async () => {
    const location = async (path: string) => {
      const response = await mountedApp().request(path);
      return [response.status, new URL(response.headers.get('location') ?? '', `http://localhost${path}`).pathname];
    };
    expect((await mountedApp().request('/team/docs?q=1')).headers.get('location')).toBe('/team/docs/?q=1');
    expect(await location('/team/docs')).toEqual([308, '/team/docs/']);
    expect(await location('/team/docs/a')).toEqual([308, '/team/docs/a/']);
  });

  it('serves the routes of docshelf in the base path', async () => {
    const features = await mountedApp().request('/team/docs/_docshelf/features.json');
    expect(await features.json()).toMatchObject({ domain: 'acme' });
    expect(await (await mountedApp().request('/team/docs/_docshelf/search?q=a')).text()).toBe('found');
  });
});
