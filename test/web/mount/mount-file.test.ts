import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../../src/web/media-type.ts';
import { isServedPath, type Mount } from '../../../src/web/mount/base-path.ts';
import { integrityTargets, mountFile } from '../../../src/web/mount/index.ts';

const BELOW: Mount = { from: '/', to: '/team/docs/' };
const ABOVE: Mount = { from: '/docs/', to: '/' };

/** Expects that docshelf adds the new base path to each address after `^`, and changes nothing else. */
function expectMounted(path: string, marked: string): void {
  expect(mounted(path, marked.replaceAll('^', ''))).toBe(marked.replaceAll(/\^\\?\//g, BELOW.to));
}

function mounted(path: string, text: string, mount = BELOW, files: readonly string[] = []): string {
  const table = new Set(files);
  const site = { ...mount, has: (each: string) => isServedPath(table, each) };
  return Buffer.from(mountFile({ path, type: mediaTypeOf(path), bytes: Buffer.from(text) }, site)).toString();
}

describe('mountFile() for pages at another base path', () => {
  it.each([
    '<a href="^/a?b&amp;c#d">',
    '<a href=^/a>',
    "<img src='^/ü.png' srcset='^/1.png 1x, ^/2.png 2x'>",
    '<video poster="^/p.png"><source src="^/v.mp4"></video>',
    '<object data="^/a.svg"></object>',
    '<form action="^/find"><button formaction="^/x">',
    '<base href="^/">',
    '<link rel=canonical href="^/a">',
    '<meta property="og:url" content="^/a"><meta name="twitter:image" content="^/b.png">',
    '<meta name="description" content="/a">',
    '<meta http-equiv="refresh" content="0; url=^/a">',
    '<p style="background: url(^/a.png)">',
    '<style>@import "^/a.css"; b { c: url("^/d.png") }</style>',
    '<script type="module">import "^/a.js"</script>',
    '<script type="importmap">{"imports":{"a":"^/a.js","^/b/":"^/c/"}}</script>',
    "<script>navigator.serviceWorker.register('^/sw.js',{scope:'^/'})</script>",
    `<p>navigator.serviceWorker: {scope:'/'}</p><script>/* serviceWorker */ a = { scope: "./" }</script>`,
    '<script type="speculationrules">{"prefetch":[{"where":{"or":[{"href_matches":{"pathname":"^/a/*"}},{"href_matches":{"hostname":"x","pathname":"/b"}},{"selector_matches":"/c"}]}}]}</script>',
    '<svg><use href="^/s.svg#x"/></svg>',
    '<iframe srcdoc="&lt;a href=&quot;^/a&quot;>">',
    String.raw`<script type="speculationrules">{"prerender":[{"urls":["^/a"]},{"where":{"and":[{"href_matches":"^\/*\\?(.*)"},{"not":{"href_matches":["^/b/:id{/c}?","*://x.example/*","d/*"]}}]}}]}</script>`,
  ])('rewrites the addresses in the markup %s', (marked) => {
    expectMounted('a.html', marked);
  });

  it.each([
    '<a href="//host/a"><a href="https://other.example/a"><a href="#a"><a href="a/b"><a href="../a"><a href="">',
    '<!-- <a href="/a"> --><textarea><a href="/a"></textarea><p>/a</p>',
  ])('does not change the markup %s', (html) => {
    expect(mounted('a.html', html)).toBe(html);
  });

  it('returns the same object if nothing changes', () => {
    const bytes = Buffer.from('<a href="b">');
    const file = { path: 'a.html', type: 'text/html; charset=utf-8', bytes };
    expect(mountFile(file, { ...BELOW, has: () => true })).toBe(bytes);
    expect(mountFile({ ...file, bytes }, { from: '/', to: '/', has: () => true })).toBe(bytes);
  });

  it('removes the base path only from addresses that contain it', () => {
    expect(mounted('a.html', '<a href="/docs/a"><a href="/docs"><a href="/blog">', ABOVE)).toBe(
      '<a href="/a"><a href="/"><a href="/blog">',
    );
  });

  it('removes the base path from scopes of service workers and patterns of speculation rules', () => {
    const script = (scope: string) =>
      `<script>navigator.serviceWorker.register("sw.js",{scope:"${scope}"})</script><script type="speculationrules">{"prefetch":[{"where":{"href_matches":"${scope}*"}}]}</script>`;
    expect(mounted('a.html', script('/docs/'), ABOVE)).toBe(script('/'));
    expect(mounted('a.html', script('/blog/'), ABOVE)).toBe(script('/blog/'));
  });

  it('escapes special characters of the version label, such as +, in URL patterns', () => {
    const mount = { from: '/', to: '/_docshelf/v/1.0+a/' };
    const rules = '<script type="speculationrules">{"prefetch":[{"where":{"href_matches":"/b/*"}}]}</script>';
    const made = /\{.*\}/.exec(mounted('a.html', rules, mount))?.[0] ?? '';
    const pathname = JSON.parse(made).prefetch[0].where.href_matches;
    expect(new URLPattern({ pathname }).test({ pathname: '/_docshelf/v/1.0+a/b/c' })).toBe(true);
  });

  it.each<[string, Buffer, string]>([
    [
      'windows-1252',
      Buffer.from('<meta charset="iso-8859-1"><a href="/é">é</a>', 'latin1'),
      '<meta charset="utf-8"><a href="/team/docs/é">é</a>',
    ],
    ['shift_jis', Buffer.from('<p>\x95\x5c<a href="/\x95\x5c">', 'latin1'), '<p>表<a href="/team/docs/表">'],
    ['utf-16le', Buffer.from('\ufeff<form action="/a">é', 'utf16le'), '<form action="/team/docs/a">é'],
  ])('converts a changed file in %s to UTF-8 with a byte order mark', (charset, bytes, text) => {
    const file = { path: 'a.html', type: `text/html; charset=${charset}`, bytes };
    const made = mountFile(file, { ...BELOW, has: () => true });
    expect(Buffer.from(made).toString()).toBe(`\ufeff${text}`);
    const other = { ...file, bytes: Buffer.from('<p>\xe9', 'latin1') };
    expect(mountFile(other, { ...BELOW, has: () => true })).toBe(other.bytes);
  });

  it('updates the integrity attribute of an element if the file that the element loads has changed', () => {
    const html =
      '<script src="/a.js" integrity="sha384-old"></script><link rel=stylesheet href="b.css" integrity="sha256-kept">';
    const file = { path: 'a.html', type: 'text/html; charset=utf-8', bytes: Buffer.from(html) };
    expect(integrityTargets(file)).toEqual([
      { url: '/a.js', digest: 'sha384-old' },
      { url: 'b.css', digest: 'sha256-kept' },
    ]);
    const made = mountFile(file, { ...BELOW, has: () => true }, (url) => (url === '/a.js' ? 'sha384-new' : null));
    expect(Buffer.from(made).toString()).toBe(
      '<script src="/team/docs/a.js" integrity="sha384-new"></script><link rel=stylesheet href="b.css" integrity="sha256-kept">',
    );
  });
});

describe('mountFile() for other files at another base path', () => {
  it.each([
    ['a.css', 'a { b: url(^/c.png) } @import "^/d.css";'],
    ['a.svg', '<svg xmlns="http://www.w3.org/2000/svg"><image href="^/a.png"/></svg>'],
    ['a.js', 'import "^/b.js"; new Worker("^/w.js")'],
    ['manifest.webmanifest', '{"start_url":"^/","icons":[{"src":"^/i.png"}],"name":"/n"}'],
    ['manifest.json', '{"start_url":"^/"}'],
    [
      'registerSW.js',
      "if('serviceWorker' in navigator)addEventListener('load',()=>{navigator.serviceWorker.register('^/sw.js', { scope: '^/' })})",
    ],
    [
      'pwa.js',
      'import("./workbox-window.js").then(({Workbox:e})=>new e(location.origin+"/x",{scope:"^/",type:"classic"}))',
    ],
    ['sitemap.xml', '<urlset><url><loc>^/a</loc></url><url><loc>https://other.example/a</loc></url></urlset>'],
    ['feed.xml', '<rss><item><link>^/a</link><description>&lt;a href=&quot;^/b&quot;></description></item></rss>'],
    ['atom.xml', '<feed><link href="^/a"/><id>urn:x</id></feed>'],
    ['a.txt', '/a "/b"'],
    ['a.png', '<a href="/a">'],
    [
      'site.webmanifest',
      String.raw`{"id":"^/?x","scope":"^\/","share_target":{"action":"^\/s"},"protocol_handlers":[{"url":"^/p?q=%s"}],"scope_extensions":[{"origin":"https://x.example"}]}`,
    ],
  ])('rewrites addresses in the file %s as its file type requires', (path, marked) => {
    expectMounted(path, marked);
  });
});

describe('mountFile() for hostile files', () => {
  const MIB = 1024 ** 2;

  it('rewrites every link of a sitemap with 200,000 links', () => {
    const bytes = Buffer.from('<loc>/a</loc>'.repeat(200_000));
    const made = mountFile({ path: 'sitemap.xml', type: 'application/xml', bytes }, { ...BELOW, has: () => true });
    expect(Buffer.from(made).toString().split('<loc>/team/docs/a</loc>')).toHaveLength(200_001);
  });

  it.each([
    ['a.html', '<script>'],
    ['a.html', '<script>self.__next_f.push([1,"'],
    ['a.js', '__VP_SITE_DATA__='],
    ['a.js', '__pageData href="/a'],
    ['a.js', 'location   = "/'],
    ['a.js', 'serviceWorker scope:"/"'],
    ['a.js', 'serviceWorker ? scope     '],
    ['a.html', '<script type=speculationrules>{"prefetch":[{"href_matches":"/'],
    ['a.js', 'docusaurus {"path":"/'],
    ['a.txt', '0:[{'],
    ['a.xml', '<link '],
    ['a.css', 'url(/'],
  ])('takes linear time for %s with repeated %s', (path, part) => {
    const bytes = Buffer.from(part.repeat(Math.ceil(MIB / part.length)));
    const startedAt = process.cpuUsage().user;
    mountFile({ path, type: mediaTypeOf(path), bytes }, { ...BELOW, has: () => true });
    // About 50 ms on an idle machine. Quadratic time takes minutes.
    expect((process.cpuUsage().user - startedAt) / 1e6).toBeLessThan(5);
  });
});
