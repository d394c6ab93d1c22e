import { describe, expect, it } from 'vitest';
import { hasNoFollow, Robots, Traps } from '../../src/crawl/admission.ts';
import { llmsLinks, readSitemap } from '../../src/crawl/listed-urls.ts';
import { prefixOf, Scope } from '../../src/crawl/scope.ts';
import { segmentsOf } from '../../src/web/rewrite/generators/index.ts';

const at = (path: string) => new URL(path, 'https://docs.test');

describe('Robots (rules of robots.txt)', () => {
  const rules = (...lines: string[]) => new Robots(['User-agent: *', ...lines].join('\n'));

  it.each<[string[], string, boolean]>([
    [['Disallow: /'], '/a', false],
    [['Disallow:'], '/a', true],
    [['Disallow: /a'], '/abc', false],
    [['Disallow: /a/'], '/a', true],
    // The longest matching rule applies, and among equally long rules a rule that allows (RFC 9309, section 2.2.2).
    [['Disallow: /a', 'Allow: /a/b'], '/a/b/c', true],
    [['Allow: /a', 'Disallow: /a/b'], '/a/b/c', false],
    [['Disallow: /a', 'Allow: /a'], '/a', true],
    [['Disallow: /*.pdf$'], '/x/y.pdf', false],
    [['Disallow: /*.pdf$'], '/x/y.pdf?z', true],
    [['Disallow: /*/private/*/x'], '/a/private/b/xyz', false],
    [['Disallow: /*/private/*/x'], '/private/b/x', true],
    [['Disallow: /a$'], '/a', false],
    [['Disallow: /a$'], '/ab', true],
    [['Disallow: /aba*ba$'], '/aba', true],
    [['Disallow: /%7Eme'], '/~me', false],
    [['Disallow: /a%3cd'], '/a%3Cd', false],
    [['Disallow: /?x'], '/?xy', false],
    [['Disallow: /a # comment'], '/a', false],
  ])('evaluates the rules %j for the path %s to %s', (lines, path, isAllowed) => {
    expect(rules(...lines).allows(at(path))).toBe(isAllowed);
  });

  it('applies all groups that name docshelf, or the group for all crawlers if no group names docshelf', () => {
    const text =
      'User-agent: other\nUser-agent: Docshelf\nDisallow: /a\n\nUser-agent: *\nDisallow: /\nUser-agent: docshelf\nDisallow: /b';
    const robots = new Robots(text);
    expect(['/a', '/b', '/c'].map((path) => robots.allows(at(path)))).toEqual([false, false, true]);
    expect(new Robots('User-agent: other\nDisallow: /').allows(at('/a'))).toBe(true);
  });

  it('evaluates a rule with 500 wildcards in less than 500 ms of CPU time', () => {
    const robots = rules(`Disallow: /${'*a'.repeat(500)}b$`);
    const before = process.threadCpuUsage();
    expect(robots.allows(at(`/${'a'.repeat(1_900)}`))).toBe(true);
    expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(500);
  });

  it('lists the sitemaps of robots.txt, whatever their position in the file', () => {
    expect(new Robots('Sitemap: https://a/1.xml\nUser-agent: *\nsitemap:/2.xml').sitemaps).toEqual([
      'https://a/1.xml',
      '/2.xml',
    ]);
  });
});

describe('Scope of a crawl', () => {
  const scope = new Scope({ origin: 'http://127.0.0.1:3000', prefix: '/docs/', hosts: ['docs.acme.dev'] });

  it.each([
    ['http://127.0.0.1:3000/docs/a#b', 'http://127.0.0.1:3000/docs/a'],
    ['http://user:pass@127.0.0.1:3000/docs/a?b', 'http://127.0.0.1:3000/docs/a?b'],
    ['https://docs.acme.dev/docs/a?', 'http://127.0.0.1:3000/docs/a'],
    ['http://docs.acme.dev/docs/a', 'http://127.0.0.1:3000/docs/a'],
    ['https://cdn.dev/a#b', 'https://cdn.dev/a'],
    ['mailto:a@b', null],
    ['file:///etc/passwd', null],
  ])('normalizes the address %s to %s', (url, canonical) => {
    expect(scope.canonical(new URL(url))).toBe(canonical);
  });

  it('replaces the crawled origin of an address with the first configured host', () => {
    expect(scope.published('http://127.0.0.1:3000/docs/a')).toBe('https://docs.acme.dev/docs/a');
    expect(scope.published('https://cdn.dev/a')).toBe('https://cdn.dev/a');
  });

  it('treats http and https of a host as the same site, but another port as another site', () => {
    const plain = new Scope({ origin: 'https://docs.dev', prefix: '/', hosts: [] });
    expect(plain.canonical(new URL('http://docs.dev/a'))).toBe('https://docs.dev/a');
    expect(plain.isOwn(new URL('https://docs.dev:8443/a'))).toBe(false);
  });
});

describe('prefixOf()', () => {
  it.each([
    ['/', '/'],
    ['/docs', '/docs/'],
    ['/docs/', '/docs/'],
    ['/docs/index.html', '/docs/'],
    ['/v1.2/start', '/v1.2/start/'],
  ])('returns for the start path %s of a crawl the folder %s', (path, prefix) => {
    expect(prefixOf(at(path))).toBe(prefix);
  });
});

describe('readSitemap()', () => {
  it('returns the addresses of pages and nested sitemaps, and ignores addresses of images', () => {
    const xml = `<?xml version="1.0"?><urlset xmlns:image="x"><url><loc> https://a/?x=1&amp;y=2 </loc><image:image><image:loc>https://a/i.png</image:loc></image:image></url><url><loc><![CDATA[https://a/b]]></loc></url></urlset>`;
    expect(readSitemap(xml)).toMatchObject({ pages: ['https://a/?x=1&y=2', 'https://a/b'], sitemaps: [] });
    const translated =
      '<url><loc>https://a/</loc><xhtml:link rel="alternate" hreflang="de" href="https://a/de/"/></url>';
    expect(readSitemap(translated).pages).toEqual(['https://a/', 'https://a/de/']);
    expect(readSitemap('<sitemapindex><sitemap><loc>https://a/s.xml</loc></sitemap></sitemapindex>')).toMatchObject({
      pages: [],
      sitemaps: ['https://a/s.xml'],
    });
    expect(readSitemap('https://a/1\nhttps://a/2\nno address')).toMatchObject({
      pages: ['https://a/1', 'https://a/2'],
    });
    expect(
      readSitemap('<rss><channel><link>https://a/</link><item><title>x</title><link>https://a/1</link></item></rss>'),
    ).toMatchObject({ pages: ['https://a/1'], sitemaps: [] });
    const atom =
      '<feed><link href="https://a/"/><entry><link rel="edit" href="https://a/e"/><link href="https://a/1"/></entry></feed>';
    expect(readSitemap(atom)).toMatchObject({ pages: ['https://a/1'], sitemaps: [] });
    expect(readSitemap('<html><body>no sitemap')).toMatchObject({ pages: [], sitemaps: [] });
  });
});

describe('llmsLinks()', () => {
  it('finds the Markdown links in llms.txt', () => {
    expect(llmsLinks('# T\n- [A](/a.md): x\n- [B](<https://b/c>) [C](/c_(d) "t")')).toEqual([
      '/a.md',
      'https://b/c',
      '/c_(d)',
    ]);
  });
});

describe('hasNoFollow()', () => {
  it.each<[string, boolean]>([
    ['noindex,nofollow', true],
    ['NONE', true],
    ['googlebot: nofollow', true],
    ['index, follow', false],
    ['nofollowing', false],
    ['', false],
  ])('returns for the robots directives "%s" the value %s', (directives, isNoFollow) => {
    expect(hasNoFollow(directives)).toBe(isNoFollow);
  });
});

describe('segmentsOf()', () => {
  it('reads the segments of a Next.js route from the route tree', () => {
    const tree = [
      ':HL["/x.css","style"]',
      '3:[["children",{"s":"__PAGE__","h":160}]]',
      '2:[["children",{"s":{"n":"slug","t":"c","k":"guides/rpc","s":["ja"]},"h":1,"c":"$Q3"}]]',
      '1:[["children",{"s":"(en)","h":131120,"c":"$Q2"}]]',
      '0:{"b":"build","t":{"t":{"s":"","h":131152,"c":"$Q1"}}}',
    ].join('\n');
    expect(segmentsOf(tree)).toEqual(['!KGVuKQ', '!KGVuKQ.$c$slug', '!KGVuKQ.$c$slug.__PAGE__']);
  });

  it.each(['', '0:{"t":{"t":{"c":"$Q0"}}}', '0:{"t":{"t":{"c":"$Q1"}}}\n1:[["children",{"s":"a","c":"$Q1"}]]', '0:['])(
    'returns a limited number of segments for the invalid or endless tree %j',
    (tree) => {
      expect(segmentsOf(tree).length).toBeLessThanOrEqual(500);
    },
  );
});

describe('Traps (detection of endless addresses)', () => {
  const traps = () => new Traps({ queryVariantsMax: 2 });

  it('allows the addresses of an ordinary site', () => {
    const judge = traps();
    for (const path of ['/a/b/c', '/docs/docs/x', '/blog/2024/01/15/post', '/v1.2/api', '/a?x=1', '/a?x=2'])
      expect(judge.judge(at(path), true)).toBeNull();
  });

  it('counts the queries of page addresses separately from the queries of image addresses', () => {
    const judge = traps();
    const results = (isPage: boolean) => [1, 2, 3].map((n) => judge.judge(at(`/a?w=${n}`), isPage) !== null);
    expect(results(true)).toEqual([false, false, true]);
    expect(results(false)).toEqual([false, false, false]);
  });
});
