import { describe, expect, it } from 'vitest';
import { loadSiteRules, type SnapshotOptions } from '../../src/site/index.ts';
import { Work } from '../../src/web/rules/index.ts';
import { type Files, releases, serve } from './helpers.ts';

const FILES: Files = {
  'index.html': 'start',
  'a.html': 'page a',
  'folder/index.html': 'folder',
  'app.js': 'script',
  '404.html': 'missing',
  'fr/404.html': 'manque',
  'fr/index.html': 'accueil',
  'ja/404/index.html': 'nai',
};

async function site(
  rules: { redirects?: string; headers?: string },
  form: Partial<SnapshotOptions> = {},
  files = FILES,
) {
  const { redirects, headers } = rules;
  const release = releases.make({
    ...files,
    ...(redirects === undefined ? {} : { _redirects: redirects }),
    ...(headers === undefined ? {} : { _headers: headers }),
  });
  return serve([release], { ...form, rules: await loadSiteRules(release) });
}

/** Status, followed by the location or body. */
async function summaryOf(response: Response): Promise<string> {
  return `${response.status} ${response.headers.get('location') ?? (await response.text())}`;
}

describe('site with _redirects rules', () => {
  it.each<[string, string, string]>([
    ['/a /b', '/a', '200 page a'],
    ['/a /b 301!', '/a', '301 /b'],
    ['/folder /b', '/folder', '308 folder/'],
    ['/folder /b 302!', '/folder', '302 /b'],
    ['/app.js /b', '/app.js', '200 script'],
    ['/app.js /b 307!', '/app.js', '307 /b'],
    ['/gone /a', '/gone', '301 /a'],
    ['/gone /a', '/gone?q=1', '301 /a?q=1'],
    ['/gone /a 200', '/gone', '200 page a'],
    ['/gone /a.html 200', '/gone', '200 page a'],
    ['/gone /a/ 200', '/gone', '200 page a'],
    ['/gone /folder 200', '/gone', '200 folder'],
    ['/gone /folder/ 200', '/gone', '200 folder'],
    ['/gone /a?x#y 200', '/gone', '200 page a'],
    ['/gone /absent 200', '/gone', '404 missing'],
    ['/gone /absent 200\n/gone /a', '/gone', '301 /a'],
    ['/a /folder/ 200!', '/a', '200 folder'],
    ['/gone /a 404', '/gone', '404 page a'],
    ['/gone /fr/404 404\n/* /a', '/gone', '404 manque'],
    ['/:lang/* /:lang/404/ 404\n/* /a 404', '/ja/x', '404 nai'],
    ['/:lang/* /:lang/404/ 404\n/* /a 404', '/xx/x', '404 page a'],
    ['/* / 200', '/anything/at/all', '200 start'],
    ['/* / 200', '/a', '200 page a'],
    ['/* / 200', '/absent.js', '404 Not found\n'],
    ['/* /a 404', '/absent.js', '404 Not found\n'],
    ['/* /app.js 200', '/absent.js', '200 script'],
    ['/* https://new.example/:splat 301', '/gone/x?y', '301 https://new.example/gone/x?y'],
    ['/* https://new.example/:splat 301', '/a', '200 page a'],
    ['/gone /a', '/_docshelf/gone', '404 missing'],
    ['/* /index.html 200', '/_docshelf/assets/a', '404 missing'],
    ['/* /index.html 200!', '/_docshelf/assets/a', '404 missing'],
    ['/* https://new.example/:splat 302', '/_docshelf', '404 missing'],
    ['/* /a', '/x/../y', '404 missing'],
    ['/* /a', '/x//y', '404 missing'],
    ['/* /a', '/x%2Fy', '404 missing'],
    ['/.well-known/x https://id.example/x 302', '/.well-known/x', '302 https://id.example/x'],
    ['/x /_redirects 200', '/x', '404 missing'],
    ['/x /.git/config 200', '/x', '404 missing'],
    ['/x /../../etc/passwd 200', '/x', '404 missing'],
    ['/x/* /:splat 200', '/x/_headers', '404 missing'],
    ['/b /b/', '/b', '301 /b/'],
    ['/b /b/', '/b/', '404 missing'],
    ['/* /:splat', '/x', '404 missing'],
    ['/* /:splat 302!', '/a', '200 page a'],
  ])('applies the rules %j to the path %s: %s', async (redirects, target, expected) => {
    const { send } = await site({ redirects });
    expect(await summaryOf(await send(target))).toBe(expected);
    expect(await summaryOf(await send(target))).toBe(expected);
  });

  it.each<[rules: string, target: string, expected: string]>([
    ['/a/* /a/b/:splat', '/a/x', '404 missing'],
    ['/a/* /a/b/:splat', '/a/b/b/x', '404 missing'],
    ['/docs/* /docs/v2/:splat', '/docs/page', '301 /docs/v2/page'],
    ['/docs/* /docs/v2/:splat', '/docs/page/', '301 /docs/v2/page/'],
    ['/docs/* /docs/v2/:splat', '/docs/gone', '404 missing'],
    ['/docs/* /docs/v2/:splat\n/* /a', '/docs/gone', '301 /a'],
    ['/* /fr/:splat', '/gone', '404 missing'],
    ['/* /fr/:splat', '/index.html', '200 start'],
    ['/x/* /y/:splat\n/y/* /x/:splat', '/x/1', '404 missing'],
    ['/x/* /y/:splat\n/y/1 /x/1', '/x/1', '404 missing'],
    ['/x/* /y/:splat\n/y/1 /x/1', '/x/2', '301 /y/2'],
    ['/x/* /x/y/:splat 301!', '/x/a', '404 missing'],
    ['/x/y/y/* https://x.example/\n/x/* /x/y/:splat', '/x/a', '301 /x/y/a'],
    [`/a/* /a/${':splat/'.repeat(20)}`, '/a/x', '404 missing'],
    [Array.from({ length: 20 }, (_, n) => `/n${n}/* /n${n + 1}/:splat`).join('\n'), '/n0/x', '301 /n1/x'],
    [Array.from({ length: 21 }, (_, n) => `/n${n}/* /n${n + 1}/:splat`).join('\n'), '/n0/x', '404 missing'],
    [Array.from({ length: 21 }, (_, n) => `/n${n}/* /n${n + 1}/:splat`).join('\n'), '/n1/x', '301 /n2/x'],
  ])('prevents endless redirects: rules %j, path %s, response %s', async (redirects, target, expected) => {
    const { send } = await site({ redirects }, {}, { ...FILES, 'docs/v2/page.html': 'v2' });
    expect(await summaryOf(await send(target))).toBe(expected);
  });

  it('prevents endless redirects to the host of the request', async () => {
    const { send } = await site({ redirects: '/x/* https://docs.example/x/y/:splat' });
    expect(await summaryOf(await send('/x/1', { host: 'Docs.example' }))).toBe('404 missing');
    expect(await summaryOf(await send('/x/1', { host: 'old.example' }))).toBe('301 https://docs.example/x/y/1');
    const mounted = await site({ redirects: '/x/* https://docs.example/docs/x/y/:splat' }, { basePath: '/docs/' });
    expect(await summaryOf(await mounted.send('/x/1', { host: 'docs.example' }))).toBe('404 missing');
    const moved = await site({ redirects: '/* https://docs.example/new/:splat' }, { basePath: '/docs/' });
    expect(await summaryOf(await moved.send('/x/1', { host: 'docs.example' }))).toBe(
      '301 https://docs.example/new/x/1',
    );
  });

  it.each<[form: Partial<SnapshotOptions>, rules: string, start: string, end: string]>([
    [{}, '/* /:splat/ 301!', '/a', '200 page a'],
    [{}, '/* /:splat/ 301!', '/a/', '200 page a'],
    [{}, '/* /:splat/ 301!', '/folder', '200 folder'],
    [{}, '/a /a/ 301!', '/a', '200 page a'],
    [{}, '/a https://docs.example/a/ 301!', '/a/', '200 page a'],
    [{}, '/:page https://docs.example/:page/ 301!', '/a', '200 page a'],
    [{ trailingSlash: 'always' }, '/:page/ /:page 301!', '/folder/', '200 folder'],
    [{ trailingSlash: 'always' }, '/folder/ https://docs.example/folder 301!', '/folder', '200 folder'],
    [{ trailingSlash: 'never' }, '/* /:splat/ 301!', '/folder', '200 folder'],
    [{ basePath: '/docs/' }, '/* /:splat/ 301!', '/a', '200 page a'],
  ])(
    'prevents endless redirects between rules and trailing slashes: options %j, rules %s, first path %s',
    async (form, redirects, start, end) => {
      const { send } = await site({ redirects }, form);
      let url = new URL(start, 'https://docs.example');
      for (let steps = 0; steps <= 20; steps++) {
        const response = await send(url.pathname, { host: 'docs.example' });
        const location = response.headers.get('location');
        if (location === null) {
          expect(await summaryOf(response)).toBe(end);
          return;
        }
        url = new URL(location, url);
        url.pathname = url.pathname.replace(/^\/docs\//, '/');
      }
      expect.fail(`redirects on from ${url.pathname}`);
    },
  );

  it.each<[form: Partial<SnapshotOptions>, rule: string, target: string, expected: string]>([
    [{}, '/old/* /folder/:splat', '/old/', '301 /folder/'],
    [{}, '/old/* /:splat', '/old/folder/', '301 /folder/'],
    [{}, '/old/* /:splat', '/old/folder/?q=1', '301 /folder/?q=1'],
    [{}, '/old/* /:splat 200', '/old/folder/', '200 folder'],
    [{}, '/old/* /:splat 200', '/old/folder', '200 folder'],
    [{}, '/old/* /:splat 200', '/old/a/', '200 page a'],
    [{ trailingSlash: 'never' }, '/old/* /:splat', '/old/folder/', '301 /folder/'],
    [{ trailingSlash: 'never' }, '/old/* /:splat 200', '/old/folder/', '200 folder'],
    [{ trailingSlash: 'always' }, '/old/* /:splat', '/old/folder', '301 /folder'],
    [{ basePath: '/docs/' }, '/old/* /new/:splat', '/old/a/', '301 /docs/new/a/'],
    [{ basePath: '/docs/' }, '/old/* /:splat', '/old/', '301 /docs/'],
  ])(
    'keeps a trailing slash that a splat matches: options %j, rule %s, path %s, response %s',
    async (form, redirects, target, expected) => {
      const { send } = await site({ redirects }, form);
      expect(await summaryOf(await send(target))).toBe(expected);
    },
  );

  it('stays within the work limit of one request if a rule lengthens the path', async () => {
    const release = releases.make({ ...FILES, _redirects: `/x/* /x/${':splat/'.repeat(20)}\n/y/* /a 200` });
    const { server } = serve([release], { rules: await loadSiteRules(release) });
    const pages = server.current?.pages;
    for (const [path, page] of [
      ['x/abc', null],
      ['y/abc', 'a.html'],
    ] as const) {
      const work = new Work();
      expect(pages?.pageAt(path, work), path).toBe(page);
      expect(work.isSpent, path).toBe(false);
    }
  });

  it('omits the last pages of a page list if checking the rules for the list exceeds the work limit', async () => {
    const release = releases.make({ ...FILES, _redirects: '/x/* /a 301!' });
    const { server } = serve([release], { rules: await loadSiteRules(release) });
    const listed = Array.from({ length: 100 }, () => ({ path: 'a.html' }));
    const all = await server.current?.pages.openPages(listed);
    expect([all?.open.length, all?.isCut]).toEqual([100, false]);
    const some = await server.current?.pages.openPages(listed, 20_000);
    expect(some?.open.length).toBeLessThan(50);
    expect(some?.isCut).toBe(true);
  });

  it('serves files and the nearest 404 page if a site has no rules', async () => {
    const { send } = await site({});
    for (const [target, expected] of [
      ['/a', '200 page a'],
      ['/gone', '404 missing'],
      ['/fr/gone', '404 manque'],
      ['/fr/deep/gone', '404 manque'],
      ['/ja/gone', '404 nai'],
      ['/_redirects', '404 missing'],
    ] as const) {
      expect(await summaryOf(await send(target)), target).toBe(expected);
    }
  });

  it('does not serve the rule files', async () => {
    const { send } = await site({ redirects: '/x /a', headers: '/x\n  X-Robots-Tag: a' });
    for (const target of ['/_redirects', '/_headers', '/%5fredirects', '/_redirects?x']) {
      expect((await send(target)).status, target).toBe(404);
    }
  });

  it('limits caching of a 301, and responds to HEAD like GET', async () => {
    const { send } = await site({ redirects: '/gone /a' });
    const response = await send('/gone', {}, 'HEAD');
    expect([response.status, response.headers.get('location'), response.headers.get('cache-control')]).toEqual([
      301,
      '/a',
      'no-cache',
    ]);
  });

  it('skips a rule that redirects to the requested address, but still applies the rule to requests for another host', async () => {
    const { send, server } = await site({ redirects: '/* https://docs.example/:splat 302!' });
    expect(await summaryOf(await send('/a', { host: 'old.example' }))).toBe('302 https://docs.example/a');
    expect(await summaryOf(await send('/a', { host: 'Docs.Example' }))).toBe('200 page a');
    expect(await summaryOf(await send('/gone', { host: 'docs.example' }))).toBe('404 missing');
    expect(server.fastAnswer('/a', {})).toBeNull();
    expect(await summaryOf(await send('/a', { host: 'old.example' }))).toBe('302 https://docs.example/a');
  });

  it('serves an asset of an older release before a rule without !, but after a rule with !', async () => {
    const rules = (redirects: string) => releases.make({ 'index.html': 'x', _redirects: redirects });
    const older = releases.make({ 'old.css': 'older' });
    for (const [redirects, expected] of [
      ['/* /index.html 200', '200 older'],
      ['/old.css /new.css', '200 older'],
      ['/old.css /new.css 301!', '301 /new.css'],
    ] as const) {
      const active = rules(redirects);
      const { send } = serve([active, older], { rules: await loadSiteRules(active) });
      expect(await summaryOf(await send('/old.css')), redirects).toBe(expected);
    }
  });

  it.each<[from: string, to: string, redirects: string, target: string, expected: string]>([
    ['/', '/docs/', '/gone /a', '/gone', '301 /docs/a'],
    ['/', '/docs/', '/gone /a 200', '/gone', '200 page a'],
    ['/', '/docs/', '/gone https://x.example/a', '/gone', '301 https://x.example/a'],
    ['/docs/', '/', '/docs/gone /docs/a', '/gone', '301 /a'],
    ['/docs/', '/', '/docs/gone /docs/a 200', '/gone', '200 page a'],
    ['/docs/', '/team/', '/docs/* /docs/a 302', '/gone', '302 /team/a'],
    ['/docs/', '/', '/gone /a', '/gone', '404 missing'],
    ['/docs/', '/docs/', '/docs/gone /elsewhere', '/gone', '301 /elsewhere'],
  ])(
    'rewrites rules of a site built for %s and served at %s: %j',
    async (builtFor, basePath, redirects, target, expected) => {
      const release = releases.make({ ...FILES, _redirects: redirects }, { builtFor });
      const { send } = serve([release], { basePath, rules: await loadSiteRules(release) });
      expect(await summaryOf(await send(target))).toBe(expected);
    },
  );
});

describe('spaFallback option', () => {
  it.each([
    ['/any/route', '200 start'],
    ['/any/route/', '200 start'],
    ['/any/route?q=1', '200 start'],
    ['/a', '200 page a'],
    ['/gone', '301 /a'],
    ['/any/script.js', '404 Not found\n'],
    ['/any/v1.2', '404 missing'],
    ['/_docshelf/any', '404 missing'],
    ['/.git', '404 missing'],
  ])('responds to the path %s with %j', async (target, expected) => {
    const { send } = await site({ redirects: '/gone /a' }, { spaFallback: true });
    expect(await summaryOf(await send(target))).toBe(expected);
  });

  it('responds with 404 if there is no start page', async () => {
    const { send } = await site({}, { spaFallback: true }, { '404.html': 'missing' });
    expect(await summaryOf(await send('/any'))).toBe('404 missing');
  });
});

const header = async (response: Response, name: string) => response.headers.get(name);

describe('response headers', () => {
  it('combine the preset of docshelf, the headers of the site and the headers of the operator, in this order', async () => {
    const headers = '/*\n  Referrer-Policy: origin\n  X-Frame-Options: DENY\n/a\n  ! Permissions-Policy';
    const { send } = await site(
      { headers },
      { headers: { preset: 'recommended', set: { 'x-frame-options': 'x', 'X-A': 'b' }, policy: {} } },
    );
    const a = await send('/a');
    expect(await header(a, 'referrer-policy')).toBe('origin');
    expect(await header(a, 'x-frame-options')).toBe('x');
    expect(await header(a, 'x-a')).toBe('b');
    expect(await header(a, 'permissions-policy')).toBeNull();
    expect(await header(a, 'x-content-type-options')).toBe('nosniff');
    expect(await header(await send('/folder/'), 'permissions-policy')).toMatch(/^camera=/);
  });

  it('contain the preset of docshelf for documents only, and the headers of the operator for all files', async () => {
    const form = { headers: { preset: 'recommended', set: { 'X-A': 'b' }, policy: {} } } as const;
    const { send } = await site({}, form, {
      'a.html': 'x',
      'a.js': 'x',
      'a.svg': '<svg/>',
      'a.png': 'x',
      '404.html': 'x',
    });
    for (const [target, isDocument] of [
      ['/a', true],
      ['/a.svg', true],
      ['/gone', true],
      ['/a.js', false],
      ['/a.png', false],
    ] as const) {
      const response = await send(target);
      expect(await header(response, 'x-frame-options'), target).toBe(isDocument ? 'SAMEORIGIN' : null);
      expect(await header(response, 'x-content-type-options'), target).toBe('nosniff');
      expect(await header(response, 'x-a'), target).toBe('b');
    }
  });

  it('omit the default headers of docshelf with `preset: none`, and each header that the operator sets to an empty value', async () => {
    const none = await site({}, { headers: { preset: 'none', set: {}, policy: {} } });
    expect(await header(await none.send('/a'), 'x-content-type-options')).toBeNull();
    const set = { 'Referrer-Policy': '', 'X-Robots-Tag': '' };
    const less = await site(
      { headers: '/*\n  X-Robots-Tag: noindex' },
      { headers: { preset: 'recommended', set, policy: {} } },
    );
    expect(await header(await less.send('/a'), 'referrer-policy')).toBeNull();
    expect(await header(await less.send('/a'), 'x-robots-tag')).toBeNull();
  });

  it('combine the Content-Security-Policy of docshelf with the policy of the site or the operator, for every file', async () => {
    const policy = { 'Content-Security-Policy': "default-src 'self'" };
    const set = { 'Content-Security-Policy': 'img-src *' };
    for (const [own, expected] of [
      [{ preset: 'recommended', set: {}, policy }, "script-src *, default-src 'self'"],
      [{ preset: 'recommended', set, policy }, "img-src *, default-src 'self'"],
    ] as const) {
      const { send } = await site(
        { headers: '/*\n  Content-Security-Policy: script-src *\n/folder/\n  ! Content-Security-Policy' },
        { headers: own },
      );
      expect(await header(await send('/a'), 'content-security-policy')).toBe(expected);
      expect(await header(await send('/folder/'), 'content-security-policy')).toMatch(/default-src 'self'$/);
      expect(await header(await send('/gone'), 'content-security-policy')).toBe(expected);
    }
    const files = { 'a.html': 'x', 'app.js': 'x', 'a.svg': '<svg/>', 'a.pdf': 'x', 'a.xml': '<x/>', 'a.xhtml': '<x/>' };
    const more = { 'a.png': 'x', 'a.txt': 'x', 'a.json': '{}', 'a.wasm': 'x', a: 'x', 'a.css': 'x', 'b.html': 'x' };
    const { send } = await site({}, { headers: { preset: 'none', set: {}, policy } }, { ...files, ...more });
    for (const path of Object.keys({ ...files, ...more })) {
      expect(await header(await send(`/${path}`), 'content-security-policy'), path).toBe("default-src 'self'");
    }
  });

  it('depend on the requested address, for 200, 304, 206 and responses from memory', async () => {
    const { send, server } = await site({
      headers: '/folder/\n  X-Robots-Tag: one\n/folder/index.html\n  X-Robots-Tag: two',
    });
    for (const [target, tag] of [
      ['/folder/', 'one'],
      ['/folder/index.html', 'two'],
      ['/a', null],
    ] as const) {
      const response = await send(target);
      expect(await header(response, 'x-robots-tag'), target).toBe(tag);
      const again = await send(target, { 'if-none-match': response.headers.get('etag') ?? '' });
      expect([again.status, await header(again, 'x-robots-tag')], target).toEqual([304, tag]);
      const part = await send(target, { range: 'bytes=0-1' });
      expect([part.status, await header(part, 'x-robots-tag')], target).toEqual([206, tag]);
      const plain = server.fastAnswer(target, {});
      expect(plain?.headers.includes(tag ?? 'no such'), target).toBe(tag !== null);
    }
  });

  it('contain immutable only for file names that have the same bytes in all releases, and never for pages', async () => {
    const year = 'public, max-age=31536000, immutable';
    const headers = `/assets/*\n  Cache-Control: ${year}\n/a\n  Cache-Control: ${year}\n/folder/\n  Cache-Control: max-age=60\n/x.5b0e4cfb.js\n  Cache-Control: no-store`;
    const files = { ...FILES, 'assets/one.js': '1', 'assets/other.js': 'new', 'x.5b0e4cfb.js': '1', _headers: headers };
    const active = releases.make(files);
    const older = releases.make({ 'assets/one.js': '1', 'assets/other.js': 'old', 'assets/gone.js': '1' });
    const { send } = serve([active, older], { rules: await loadSiteRules(active) });
    for (const [target, expected] of [
      ['/assets/one.js', year],
      ['/assets/other.js', 'no-cache'],
      ['/assets/gone.js', year],
      ['/a', 'no-cache'],
      ['/folder/', 'max-age=60'],
      ['/x.5b0e4cfb.js', 'no-store'],
      ['/gone', 'no-cache'],
    ] as const) {
      expect(await header(await send(target), 'cache-control'), target).toBe(expected);
    }
  });

  it('do not contain immutable for a file that is rewritten for another base path', async () => {
    const release = releases.make({
      'index.html': '<a href="/a">a</a>',
      'a.html': '<a href="/a">a</a>',
      'app.css': 'a { background: url("/a.png") }',
      _headers: '/*\n  Cache-Control: max-age=9, immutable\n  Link: </app.css>; rel=preload',
    });
    const { send } = serve([release], { basePath: '/docs/', rules: await loadSiteRules(release) });
    const response = await send('/app.css');
    expect(await response.text()).toContain('/docs/a.png');
    expect(await header(response, 'cache-control')).toBe('no-cache');
    expect(await header(response, 'link')).toBe('</docs/app.css>; rel=preload');
  });
});
