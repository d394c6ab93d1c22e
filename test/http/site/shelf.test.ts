import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { attribute, nodes, type PageNode, parsedNodes, text } from '../../helpers/page-nodes.ts';
import { HOSTILE, listed, SITES, shelfWith } from './shelf-example.ts';

const page = async (app: ReturnType<typeof shelfWith>, target = '/') => (await app.request(target)).text();

function read(html: string) {
  const all = parsedNodes(html);
  const named = (name: string) => all.filter(({ nodeName }) => nodeName === name);
  const items = named('li').map((item) => {
    const link = nodes(item).find(({ nodeName }) => nodeName === 'a');
    return {
      domain: attribute(item, 'data-domain'),
      text: text(item),
      href: link === undefined ? null : attribute(link, 'href'),
      isShown: attribute(item, 'hidden') === undefined,
    };
  });
  return { all, named, items, status: text(all.find((node) => attribute(node, 'role') === 'status') as PageNode) };
}

describe('shelf page (list of all sites)', () => {
  it('lists every site with title, description, version, language, date and link', async () => {
    const { items, status } = read(await page(shelfWith()));
    expect(items).toEqual([
      {
        domain: 'acme',
        text: 'Acme Docs All about rockets & "anvils" Version2024-06-01LanguageEnglishDate2024-06-01',
        href: '/acme/',
        isShown: true,
      },
      {
        domain: 'cafe',
        text: 'Café Handbuch Versionv1.0.0LanguageGerman (Germany)Date2024-06-01',
        href: 'https://docs.cafe.internal/',
        isShown: true,
      },
      { domain: 'soon', text: 'Coming Not available yet', href: null, isShown: true },
    ]);
    expect(status).toBe('Sites: 3');
  });

  it('shows the domain of a site without a title', async () => {
    const bare = listed('bare', { version: null, language: null, date: null });
    expect(read(await page(shelfWith([bare]))).items[0]).toMatchObject({ text: 'bare', href: '/bare/' });
  });

  it('uses the language of the reader, and sets Vary accordingly', async () => {
    const headers = { 'accept-language': 'fa-IR,en;q=0.5' };
    const response = await shelfWith().request('/?q=acme', { headers });
    expect([response.headers.get('vary'), response.headers.get('content-language')]).toEqual([
      'Accept-Encoding, Accept-Language',
      'fa',
    ]);
    const { named, items, status } = read(await response.text());
    const [html] = named('html');
    expect(html?.attrs).toEqual([
      { name: 'lang', value: 'fa' },
      { name: 'dir', value: 'rtl' },
    ]);
    expect(status).toBe('مستندات: 1 از 3');
    expect(items[0]?.text).toContain('نسخه2024-06-01زبانانگلیسی');
  });

  it('links to a site whose last update failed', async () => {
    const { items } = read(await page(shelfWith([listed('old', { state: 'stale' })])));
    expect(items[0]?.href).toBe('/old/');
  });

  it('states that there are no sites, and shows no search box', async () => {
    const { named, status } = read(await page(shelfWith([])));
    expect([status, named('form').length]).toEqual(['There is no documentation here yet.', 0]);
  });

  it.each([
    ['rockets', ['acme']],
    ['ROCKETS acme', ['acme']],
    ['cafe', ['cafe']],
    ['Caf\u0065\u0301', ['cafe']],
    ['v1.0', ['cafe']],
    ['soon', ['soon']],
    [' c ', ['acme', 'cafe', 'soon']],
    ['rockets cafe', []],
    ['.*', []],
    ['', ['acme', 'cafe', 'soon']],
  ])('shows for the query %j the sites %j', async (query, domains) => {
    const { items, status, named } = read(await page(shelfWith(), `/?q=${encodeURIComponent(query)}`));
    expect(items.filter(({ isShown }) => isShown).map(({ domain }) => domain)).toEqual(domains);
    expect(status).toBe(query === '' ? 'Sites: 3' : `Sites: ${domains.length} of 3`);
    expect(attribute(named('input')[0] as PageNode, 'value')).toBe(query.trim());
  });

  it('escapes the texts of a site', async () => {
    const site = listed(HOSTILE, {
      title: HOSTILE,
      description: HOSTILE,
      version: HOSTILE,
      language: HOSTILE,
      date: HOSTILE,
      address: HOSTILE,
    });
    const { all, items, named } = read(await page(shelfWith([site]), `/?q=${encodeURIComponent(HOSTILE)}`));
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ domain: HOSTILE, href: HOSTILE });
    expect(items[0]?.text).toContain(HOSTILE);
    expect(named('script').map((script) => attribute(script, 'src'))).toEqual([expect.stringMatching(/^_docshelf/)]);
    expect(named('img')).toHaveLength(1);
    expect(all.filter(({ attrs }) => attrs?.some(({ name }) => name.startsWith('on')))).toEqual([]);
  });

  it.each(['x', '', '-', 'de--', '\u{1f525}', 'a'.repeat(30)])(
    'shows no language for the invalid tag %j',
    async (language) => {
      const { items, named } = read(await page(shelfWith([listed('acme', { language })])));
      expect(items[0]?.text).not.toContain('Language');
      expect(attribute(named('h2')[0] as PageNode, 'lang')).toBeUndefined();
    },
  );

  it.each([
    ['de-x-foo', 'German'],
    ['en-u-ca-gregory', 'English'],
    ['en-a-bbb', 'English'],
  ])('shows for the language tag %s the name %s, without the extension of the tag', async (language, name) => {
    const { items, named } = read(await page(shelfWith([listed('acme', { language }), listed('other')])));
    expect(items[0]?.text).toContain(`Language${name}`);
    expect(named('h2').map((node) => attribute(node, 'lang'))).toContain(language);
  });

  it('sets the lang attribute on the texts of a site', async () => {
    const { named } = read(await page(shelfWith([listed('acme', { language: 'zh_hans_CN' })])));
    expect(attribute(named('h2')[0] as PageNode, 'lang')).toBe('zh-Hans-CN');
  });

  it('offers the search over all sites only if this search is available', async () => {
    const search = async () => Response.json([]);
    const [without, withSearch] = [read(await page(shelfWith())), read(await page(shelfWith(SITES, { search })))];
    const offered = ({ named }: typeof without) => attribute(named('form')[0] as PageNode, 'data-search');
    expect([offered(without), offered(withSearch)]).toEqual([undefined, '_docshelf/search']);
  });

  it('shortens a query that is too long', async () => {
    const { named } = read(await page(shelfWith(), `/?q=${'x'.repeat(5_000)}&q=y`));
    expect(attribute(named('input')[0] as PageNode, 'value')).toHaveLength(200);
  });

  it('has a Content-Security-Policy that allows only its own files, and contains no inline script or style', async () => {
    const response = await shelfWith().request('/');
    expect(response.headers.get('content-security-policy')).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    const { named, all } = read(await response.text());
    expect(named('style')).toEqual([]);
    expect(named('script').map(text)).toEqual(['']);
    expect(all.filter((node) => attribute(node, 'style') !== undefined)).toEqual([]);
  });
});

describe('shelf (list of all sites) over HTTP', () => {
  const answers = async (app: ReturnType<typeof shelfWith>, target: string, init?: RequestInit) => {
    const { status, headers } = await app.request(target, init);
    return [status, headers.get('content-type')];
  };

  it.each([
    '/robots.txt',
    '/index.html',
    '/guide',
    '//',
    '/_docshelf/',
    '/_docshelf/search',
    '/_docshelf/features.json',
  ])('responds with an HTML page and status 404 to the unknown path %s', async (target) => {
    expect(await answers(shelfWith(), target)).toEqual([404, 'text/html; charset=utf-8']);
  });

  it.each(['/_docshelf/assets/pages.css', '/_docshelf/assets/', '/_docshelf/assets/..%2fshelf.ts'])(
    'responds with 404 for the invalid asset path %s',
    async (target) => {
      expect((await shelfWith().request(target)).status).toBe(404);
    },
  );

  it('responds with 404 to every request while it is off, and names no site', async () => {
    const app = shelfWith(SITES, { isOn: false, search: async () => Response.json([]) });
    const [asset = ''] = /_docshelf\/assets\/[^"]+/.exec(await page(shelfWith())) ?? [];
    for (const target of ['/', '/_docshelf/search?q=a', `/${asset}`]) {
      const response = await app.request(target);
      expect([target, response.status]).toEqual([target, 404]);
      expect(await response.text()).not.toMatch(/acme|cafe/i);
    }
  });

  it('accepts only GET and HEAD', async () => {
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH']) {
      const response = await shelfWith().request('/', { method });
      expect([method, response.status, response.headers.get('allow')]).toEqual([method, 405, 'GET, HEAD']);
    }
  });

  it('responds to HEAD like GET, without the body', async () => {
    const app = shelfWith();
    const [get, head] = [await app.request('/'), await app.request('/', { method: 'HEAD' })];
    expect([head.status, [...head.headers]]).toEqual([200, [...get.headers]]);
    expect([head.headers.get('content-length'), await head.text()]).toEqual([
      String(Buffer.byteLength(await get.text())),
      '',
    ]);
  });

  it('responds with 304 to the current ETag until a site changes', async () => {
    const sites = [...SITES];
    const app = shelfWith(sites);
    const etag = (await app.request('/')).headers.get('etag') ?? '';
    const again = () => app.request('/', { headers: { 'If-None-Match': etag } });
    const response = await again();
    expect([response.status, response.headers.get('etag'), response.headers.get('cache-control')]).toEqual([
      304,
      etag,
      'no-cache',
    ]);
    expect(await response.text()).toBe('');
    sites.push(listed('new'));
    expect((await again()).status).toBe(200);
    expect((await app.request('/', { headers: { 'If-Match': etag } })).status).toBe(412);
  });

  it('compresses the page if the client accepts gzip, and sends a separate ETag', async () => {
    const app = shelfWith();
    const plain = await app.request('/');
    const gzipped = await app.request('/', { headers: { 'Accept-Encoding': 'gzip' } });
    expect([gzipped.headers.get('content-encoding'), gzipped.headers.get('vary')]).toEqual([
      'gzip',
      'Accept-Encoding, Accept-Language',
    ]);
    expect(gzipped.headers.get('etag')).not.toBe(plain.headers.get('etag'));
    expect(gunzipSync(Buffer.from(await gzipped.arrayBuffer())).toString()).toBe(await plain.text());
  });

  it('serves static files that caches may keep forever, with a hash in the name', async () => {
    const app = shelfWith();
    const assets = new Set((await page(app)).match(/_docshelf\/assets\/[^"]+/g));
    const types = [];
    for (const asset of assets) {
      expect(asset).toMatch(/(?:shelf|pages)-[0-9a-f]{16}\.(?:css|js|svg)$/);
      const response = await app.request(`/${asset}`, { headers: { 'Accept-Encoding': 'gzip' } });
      expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(gunzipSync(Buffer.from(await response.arrayBuffer())).length).toBeGreaterThan(100);
      types.push(response.headers.get('content-type'));
    }
    expect(types.sort()).toEqual(['image/svg+xml', 'text/css; charset=utf-8', 'text/javascript; charset=utf-8']);
  });

  it('passes requests for /_docshelf/search to the search over all sites', async () => {
    const app = shelfWith(SITES, { search: async (request) => Response.json([new URL(request.url).search]) });
    expect(await (await app.request('/_docshelf/search?q=a&limit=3')).json()).toEqual(['?q=a&limit=3']);
  });

  it('passes the Host header to the function that lists the sites', async () => {
    const app = shelfWith([], {}, { sites: (host) => [listed(`on ${host}`)] });
    const response = await app.request('/', { headers: { Host: 'docs.acme.dev:8080' } });
    expect(read(await response.text()).items[0]?.domain).toBe('on docs.acme.dev:8080');
  });

  it('responds with 500 to an unexpected error, and passes the error to onError', async () => {
    const reported: unknown[] = [];
    const broken = new Error('broken');
    const app = shelfWith(SITES, {}, { sites: () => Promise.reject(broken), onError: (error) => reported.push(error) });
    expect([(await app.request('/')).status, reported]).toEqual([500, [broken]]);
  });

  it('lists a thousand sites', async () => {
    const many = Array.from({ length: 1_000 }, (_, at) => listed(`site-${at}`, { description: 'word '.repeat(30) }));
    const { items, status } = read(await page(shelfWith(many), '/?q=site-99'));
    expect([items.length, status]).toEqual([1_000, 'Sites: 11 of 1000']);
  });
});
