import { createHash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { crawlBench } from './crawl-bench.ts';
import { crawlOf } from './crawled-site.ts';
import type { Origin, OriginFile } from './origin.ts';

const bench = crawlBench();

describe('crawl of a site', () => {
  it('exports the pages of the site with the files that they load, and rewrites the links between pages', async () => {
    const cdn = await bench.open({
      '/font.css': { type: 'text/css', body: '@font-face{src:url(f.woff2)}' },
      '/f.woff2': { type: 'font/woff2', body: 'font' },
    });
    const site = await bench.open({
      '/': `<!doctype html><link rel=stylesheet href="/style"><link rel=stylesheet href="${cdn.origin}/font.css">
<link rel="canonical" href="https://docs.example/"><a href="/guide">Guide</a> <a href="/guide/start#top">Start</a> <img srcset="/a.png?w=1 1x, /a.png?w=2 2x">
<a href="https://elsewhere.example/x">away</a> <a href="/old">old</a>`,
      '/style': { type: 'text/css', body: 'body{background:url("/bg.png")}' },
      '/bg.png': { type: 'image/png', body: 'png' },
      '/a.png?w=1': { type: 'image/png', body: 'one' },
      '/a.png?w=2': { type: 'image/png', body: 'two' },
      '/guide': '<!doctype html><a href="guide/start">Start</a><a href="/">Home</a>',
      '/guide/start': '<!doctype html><p id=top>Start <a href="../missing">missing</a>',
      '/old': { status: 301, headers: { location: '/guide#moved' } },
    });
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`, { allowAddresses: ['127.0.0.0/8', cdn.host] }));
    const text = (path: string) => crawled.text(path);
    const external = `_external/127.0.0.1_${cdn.origin.split(':')[2]}`;
    expect(crawled.paths).toEqual(
      [
        '404.html',
        `${external}/f.woff2`,
        `${external}/font.css`,
        '_redirects',
        'a.png',
        'a@w=2.png',
        'bg.png',
        'guide.html',
        'guide/start.html',
        'index.html',
        'old.html',
        'style.css',
      ].sort(),
    );
    expect(
      text('index.html'),
    ).toBe(`<!doctype html><link rel=stylesheet href="style.css"><link rel=stylesheet href="${external}/font.css">
<link rel="canonical" href="https://docs.example/"><a href="guide.html">Guide</a> <a href="guide/start.html#top">Start</a> <img srcset="a.png 1x, a@w=2.png 2x">
<a href="https://elsewhere.example/x">away</a> <a href="guide.html#moved">old</a>`);
    expect(text('style.css')).toBe('body{background:url("bg.png")}');
    expect(text(`${external}/font.css`)).toBe('@font-face{src:url(f.woff2)}');
    expect(text('guide.html')).toBe('<!doctype html><a href="guide/start.html">Start</a><a href="index.html">Home</a>');
    expect(text('guide/start.html')).toContain('<a href="https://docs.example/missing">');
    expect(text('404.html')).toContain('<a href="/index.html">Home</a>');
    expect(text('old.html')).toContain('url=guide.html#moved');
    expect(text('_redirects')).toBe('/old /guide.html#moved 301\n');
    expect(text('a@w=2.png')).toBe('two');
    expect(crawled.details('not_fetched')).toEqual([`${site.origin}/missing: it responds with 404`]);
    expect(site.requestedPaths()).toHaveLength(new Set(site.requestedPaths()).size);
  });

  // Node's servers write a string header as Latin-1: each character is one byte.
  const bytesOf = (text: string): string => Buffer.from(text).toString('latin1');

  it('decodes non-ASCII characters in Location and Refresh headers as in addresses of a page', async () => {
    const page = '<!doctype html><h1>x</h1>';
    const site = await bench.open({
      '/': '<!doctype html><a href=/start>a</a><a href=/query>b</a><a href=/latin>c</a><a href=/late>d</a><a href=/ascii>e</a>',
      '/start': { status: 302, headers: { location: bytesOf('/café.html') } },
      '/query': { status: 301, headers: { location: bytesOf('cafés/列表.html?q=é#où') } },
      '/latin': { status: 302, headers: { location: '/na\u00efve.html' } },
      '/late': { headers: { refresh: bytesOf('0; url="/später.html"') }, body: page },
      '/ascii': { status: 302, headers: { location: '/caf%C3%A9.html' } },
      '/caf%C3%A9.html': page,
      '/caf%C3%A9s/%E5%88%97%E8%A1%A8.html?q=%C3%A9': page,
      '/na%EFve.html': page,
      '/sp%C3%A4ter.html': page,
    });
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`));
    expect(crawled.findings).toEqual([]);
    expect(
      site
        .requestedPaths()
        .filter((path) => path.includes('%'))
        .sort(),
    ).toEqual([
      '/caf%C3%A9.html',
      '/caf%C3%A9s/%E5%88%97%E8%A1%A8.html?q=%C3%A9',
      '/na%EFve.html',
      '/sp%C3%A4ter.html',
    ]);
    expect(crawled.text('start.html')).toContain('url=caf%C3%A9.html');
  });

  it('exports a redirect as an .html page if the redirect target cannot be fetched', async () => {
    const crawled = await bench.crawl({
      '/': '<!doctype html><a href=/start>a</a><a href=/plain>b</a><a href=/zip>c</a><a href=/logo.png>d</a><a href=/both>e</a><a href=/out>f</a>',
      '/start': { status: 302, headers: { location: '/gone.html' } },
      '/plain': { status: 302, headers: { location: '/gone.txt' } },
      '/gone.txt': { status: 404, type: 'text/plain', body: 'no' },
      '/zip': { status: 302, headers: { location: '/file.zip' } },
      '/file.zip': { status: 403, type: 'application/zip', body: 'no' },
      '/logo.png': { status: 302, headers: { location: '/away.png' } },
      '/away.png': { status: 410, type: null },
      '/both': { status: 302, headers: { location: '/start' } },
      '/out': { status: 302, headers: { location: 'https://elsewhere.example/file.zip' } },
    });
    const pages = ['both.html', 'logo.png.html', 'out.html', 'plain.html', 'start.html', 'zip.html'];
    expect(crawled.paths).toEqual(['404.html', '_redirects', ...pages, 'index.html'].sort());
    for (const path of pages) expect(crawled.text(path)).toContain('http-equiv="refresh"');
  });

  it('exports the files that a page loads by relative and absolute addresses, including imports of its scripts', async () => {
    const site = await bench.open({
      '/docs/': `<base href="/docs/deep/"><a href="page">page</a><link rel="icon" href="/i.ico"><script type="module">import './m.js'</script>`,
      '/docs/deep/page': '<p>page',
      '/docs/deep/m.js': { type: 'text/javascript', body: "import './n'; new Worker('/w.js')" },
      '/docs/deep/n': { type: 'text/javascript', body: 'export {}' },
      '/w.js': { type: 'text/javascript', body: '1' },
      '/i.ico': { type: 'image/x-icon', body: 'i' },
      '/other': '<p>outside of the prefix',
      '/docs': { status: 301, headers: { location: '/docs/' } },
    });
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/docs`));
    expect(crawled.paths).toEqual([
      '404.html',
      '_redirects',
      'docs/deep/m.js',
      'docs/deep/n.js',
      'docs/deep/page.html',
      'docs/index.html',
      'i.ico',
      'index.html',
      'w.js',
    ]);
    expect(crawled.text('docs/index.html')).toBe(
      `<base href="deep/"><a href="page.html">page</a><link rel="icon" href="../../i.ico"><script type="module">import './m.js'</script>`,
    );
    expect(crawled.text('docs/deep/m.js')).toBe("import './n.js'; new Worker('/w.js')");
    expect(crawled.text('index.html')).toContain('url=docs/index.html');
  });

  it('updates the integrity attributes of links to files that the crawl rewrites', async () => {
    const crawled = await bench.crawl({
      '/': '<link rel=stylesheet href=/a.css integrity="sha384-old"><link rel=stylesheet href=/b.css integrity="sha384-kept">',
      '/a.css': { type: 'text/css', body: '@import "/b.css"; x{}' },
      '/b.css': { type: 'text/css', body: 'y{}' },
    });
    const digest = createHash('sha384').update(crawled.text('a.css')).digest('base64');
    expect(crawled.text('a.css')).toBe('@import "b.css"; x{}');
    expect(crawled.text('index.html')).toContain(`integrity="sha384-${digest}"`);
    expect(crawled.text('index.html')).toContain('integrity="sha384-kept"');
  });

  it('converts pages in any charset to UTF-8', async () => {
    const japanese = Buffer.from('<meta charset=shift_jis><p>\x95\x5c <a href="/">a</a>', 'latin1');
    const wide = Buffer.from('\ufeff<p>é <a href="/">a</a>', 'utf16le');
    const body = Buffer.from('<p>caf\xe9 <a href="/b">b</a> <a href="/c">c</a>', 'latin1');
    const crawled = await bench.crawl({
      '/': { type: 'text/html; charset=iso-8859-1', body },
      '/b': { type: 'text/html', body: japanese },
      '/c': { type: 'text/html', body: wide },
    });
    expect(crawled.text('index.html')).toBe('\ufeff<p>café <a href="b.html">b</a> <a href="c.html">c</a>');
    expect(crawled.text('b.html')).toBe('\ufeff<meta charset=utf-8><p>表 <a href="index.html">a</a>');
    expect(crawled.text('c.html')).toBe('\ufeff<p>é <a href="index.html">a</a>');
    for (const path of ['index.html', 'b.html', 'c.html'])
      expect(crawled.types.get(path)).toBe('text/html; charset=utf-8');
  });

  it('adds a byte order mark to a page that only its header declares as UTF-8', async () => {
    const crawled = await bench.crawl({
      '/': { type: 'text/html; charset=utf-8', body: '<p>é <a href="/b">b</a> <a href="/c">c</a> <a href="/d">d</a>' },
      '/b': { type: 'text/html; charset=utf-8', body: '<meta charset=latin1><p>é' },
      '/c': { type: 'text/html; charset=utf-8', body: '<meta charset=utf-8><p>é' },
      '/d': { type: 'text/html; charset=utf-8', body: '<p>e' },
    });
    expect(crawled.text('index.html')).toMatch(/^\ufeff<p>é/);
    expect(crawled.text('b.html')).toBe('\ufeff<meta charset=latin1><p>é');
    expect(crawled.text('c.html')).toBe('<meta charset=utf-8><p>é');
    expect(crawled.text('d.html')).toBe('<p>e');
  });

  it('starts with the pages in sitemaps and llms.txt, including the sitemaps that robots.txt lists', async () => {
    const page = (name: string) => `<p>${name}`;
    const site: Origin = await bench.open({
      '/': page('start'),
      '/robots.txt': { type: 'text/plain', body: 'Sitemap: /maps/index.xml.gz\nUser-agent: *\nDisallow: /secret' },
      '/maps/index.xml.gz': (_, response) => {
        const index = `<sitemapindex><sitemap><loc>${site.origin}/maps/a.xml</loc></sitemap></sitemapindex>`;
        response.writeHead(200, { 'content-type': 'application/gzip' }).end(gzipSync(index));
      },
      '/maps/a.xml': (_, response) => {
        const urls = `<url><loc>${site.origin}/a</loc></url><url><loc><![CDATA[https://docs.acme.dev/b?x=1&y=2]]></loc></url>`;
        response
          .writeHead(200, { 'content-type': 'application/xml' })
          .end(`<?xml version="1.0"?><urlset>${urls}</urlset>`);
      },
      '/llms.txt': { type: 'text/plain', body: '# Docs\n- [C](/c.md): text\n- [secret](/secret/x)' },
      '/a': page('a'),
      '/b?x=1&y=2': page('b'),
      '/c.md': { type: 'text/markdown', body: '# C' },
      '/secret/x': page('secret'),
    });
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`), { options: { hosts: ['docs.acme.dev'] } });
    expect(crawled.paths).toEqual(
      [
        '404.html',
        'a.html',
        'b.html',
        'c.md',
        'index.html',
        'llms.txt',
        'maps/a.xml',
        'maps/index.xml.gz',
        'robots.txt',
      ].sort(),
    );
    expect(site.requestCount('/secret/x')).toBe(0);
    expect(crawled.findings).toEqual([
      { kind: 'left_out', page: 'llms.txt', detail: `${site.origin}/secret/x: robots.txt disallows it` },
    ]);
  });

  it('treats the host of the canonical link of the start page as a host of the site', async () => {
    const crawled = await bench.crawl({
      '/': '<link rel="canonical" href="https://docs.acme.dev/"><a href="https://docs.acme.dev/a">a</a><a href="https://acme.dev/b">b</a>',
      '/sitemap.xml': { type: 'text/xml', body: '<urlset><url><loc>https://docs.acme.dev/c</loc></url></urlset>' },
      '/a': '<p>a',
      '/c': '<p>c',
    });
    expect(crawled.paths).toEqual(['404.html', 'a.html', 'c.html', 'index.html', 'sitemap.xml']);
    expect(crawled.text('index.html')).toBe(
      '<link rel="canonical" href="https://docs.acme.dev/"><a href="a.html">a</a><a href="https://acme.dev/b">b</a>',
    );
  });

  it('follows no link of a page with nofollow, unless robots are ignored', async () => {
    const files = {
      '/': '<meta name="robots" content="noindex, nofollow"><a href="/a">a</a><img src="/i.png">',
      '/a': '<p>a',
      '/i.png': { type: 'image/png', body: 'i' },
    };
    const respectful = await bench.home.crawl(crawlOf(`${(await bench.open(files)).origin}/`));
    expect(respectful.paths).toEqual(['404.html', 'i.png', 'index.html']);
    const other = await bench.home.crawl(crawlOf(`${(await bench.open(files)).origin}/`, { robots: 'ignore' }));
    expect(other.paths).toContain('a.html');
  });

  it('exports only the requested pages, and the files that these pages load, if the job requests pages', async () => {
    const site = await bench.open({
      '/': '<p>start',
      '/a': '<a href="/b">b</a><img src="/i.png">',
      '/b': '<p>b',
      '/i.png': { type: 'image/png', body: 'i' },
    });
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`), {
      paths: ['/a', '/none'],
      options: { hosts: ['docs.acme.dev'] },
    });
    expect(crawled.paths).toEqual(['404.html', 'a.html', 'i.png']);
    expect(crawled.text('a.html')).toBe('<a href="https://docs.acme.dev/b">b</a><img src="i.png">');
    expect(crawled.details('path_not_found')).toHaveLength(1);
  });

  it('exports the data files of Next.js next to their pages', async () => {
    const tree =
      '2:[["children",{"s":"__PAGE__"}]]\n1:[["children",{"s":{"n":"slug","t":"c"},"c":"$Q2"}]]\n0:{"t":{"t":{"s":"","c":"$Q1"}}}';
    const text = (body: string) => ({ type: 'text/plain', body });
    const crawled = await bench.crawl({
      '/': '<script>self.__next_f=[]</script><a href="/guide">guide</a>',
      '/guide': '<script>self.__next_f=[]</script>',
      '/index.txt': text('root'),
      '/guide.txt': text('guide'),
      '/guide/__next._tree.txt': text(tree),
      '/guide/__next.$c$slug.txt': text('slug'),
      '/guide/__next.$c$slug.__PAGE__.txt': text('page'),
    });
    expect(crawled.paths.filter((path) => path.endsWith('.txt'))).toEqual([
      'guide.txt',
      'guide/__next.$c$slug.__PAGE__.txt',
      'guide/__next.$c$slug.txt',
      'guide/__next._tree.txt',
      'index.txt',
    ]);
    expect(crawled.findings).toEqual([]);
  });
});

describe('start page of a crawl', () => {
  it.each<[string, OriginFile, RegExp]>([
    ['is missing', { status: 404 }, /responds with 404/],
    ['is protected', { status: 401 }, /responds with 401/],
    ['is not an HTML page', { type: 'application/json', body: '{}' }, /application\/json, not an HTML page/],
    ['is on another site', { status: 302, headers: { location: 'https://other.example/' } }, /another site/],
    ['redirects in a loop', { status: 302, headers: { location: '/' } }, /redirects/],
  ])('causes the export to fail if it %s', async (_, file, state) => {
    const site = await bench.open({ '/': file });
    const crawling = bench.home.crawl(crawlOf(`${site.origin}/`));
    await expect(crawling).rejects.toMatchObject({ code: 'bad_source', message: expect.stringMatching(state) });
  });

  it('causes the export to fail if allowAddresses does not contain its private address', async () => {
    const site = await bench.open({ '/': '<p>start' });
    const crawling = bench.home.crawl(crawlOf(`${site.origin}/`, { allowAddresses: [] }));
    await expect(crawling).rejects.toMatchObject({ code: 'bad_source' });
    expect(site.requests).toHaveLength(0);
  });

  it('is crawled if robots.txt is an HTML page, as on sites that serve one page at every address', async () => {
    const page = { type: 'text/html', body: '<p>User-agent: * Disallow: /' };
    const site = await bench.open({ '/': '<p>start', '/robots.txt': page });
    expect((await bench.home.crawl(crawlOf(`${site.origin}/`))).paths).toEqual(['404.html', 'index.html']);
  });

  it('causes the export to fail if robots.txt disallows it, unless robots are ignored', async () => {
    const site = await bench.open({
      '/': '<p>start',
      '/robots.txt': { type: 'text/plain', body: 'User-agent: docshelf\nDisallow: /' },
    });
    await expect(bench.home.crawl(crawlOf(`${site.origin}/`))).rejects.toMatchObject({ code: 'bad_source' });
    expect((await bench.home.crawl(crawlOf(`${site.origin}/`, { robots: 'ignore' }))).paths).toContain('index.html');
  });
});

describe('credentials of a crawl', () => {
  it('are sent only to the origin of the site', async () => {
    const seen: unknown[] = [];
    const cdn = await bench.open({
      '/x.png': (request, response) => {
        const { authorization, cookie, 'x-key': key } = request.headers;
        seen.push(authorization, cookie, key);
        response.writeHead(200, { 'content-type': 'image/png' }).end('x');
      },
    });
    const site = await bench.open({
      '/': (request, response) => {
        const { authorization, cookie, 'x-key': key } = request.headers;
        const isIn = authorization === 'Bearer t0ken' && cookie === 'session=1' && key === 'k:ey';
        response
          .writeHead(isIn ? 200 : 401, { 'content-type': 'text/html' })
          .end(`<img src="${cdn.origin}/x.png"><img src="/away.png">`);
      },
      '/away.png': { status: 302, headers: { location: `${cdn.origin}/x.png?again` } },
    });
    const [bearerFile, cookieFile] = [join(bench.home.dir, 'bearer'), join(bench.home.dir, 'cookie')];
    const headersFile = join(bench.home.dir, 'headers');
    await writeFile(bearerFile, 't0ken\n');
    await writeFile(cookieFile, 'session=1\n');
    await writeFile(headersFile, '# of the proxy\n\nX-Key:  k:ey \r\nCookie: other=1\n');
    const allowAddresses = ['127.0.0.1', cdn.host];
    const crawled = await bench.home.crawl(
      crawlOf(`${site.origin}/`, { bearerFile, cookieFile, headersFile, allowAddresses }),
    );
    expect(crawled.paths).toContain('index.html');
    expect(cdn.requestedPaths().sort()).toEqual(['/x.png', '/x.png?again']);
    expect(seen.filter((value) => value !== undefined)).toEqual([]);
  });

  it('are read again for each export', async () => {
    const site = await bench.open({ '/': '<p>start' });
    const headersFile = join(bench.home.dir, 'headers');
    for (const key of ['one', 'two']) {
      await writeFile(headersFile, `X-Key: ${key}\n`);
      await bench.home.crawl(crawlOf(`${site.origin}/`, { headersFile }));
      expect(site.requests.at(-1)?.headers['x-key']).toBe(key);
    }
  });

  it.each([
    ['is missing', null],
    ['contains no header', '# none\n'],
    ['contains a line without a colon', 'X-Key: c4n4ry\nc4n4ry\n'],
    ['contains a space in the name of a header', 'X Key: c4n4ry\n'],
    ['contains a control character in a value', 'X-Key: c4n4ry\u0001\n'],
  ])('cause the export to fail before the first request if headersFile %s', async (_, text) => {
    const site = await bench.open({ '/': '<p>start' });
    const headersFile = join(bench.home.dir, 'headers');
    if (text !== null) await writeFile(headersFile, text);
    const error = await bench.home.crawl(crawlOf(`${site.origin}/`, { headersFile })).catch((thrown) => thrown);
    expect(error).toMatchObject({ code: 'bad_source', message: expect.stringContaining(headersFile) });
    expect(JSON.stringify(error)).not.toContain('c4n4ry');
    expect(site.requests).toHaveLength(0);
  });
});

describe('second crawl', () => {
  it('downloads only changed files, and returns unchanged files as in the first crawl', async () => {
    const versions = { '/': 1, '/a': 1 };
    const answer =
      (path: keyof typeof versions, body: string): OriginFile =>
      (request, response) => {
        const etag = `"${path}-${versions[path]}"`;
        if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end();
        else response.writeHead(200, { 'content-type': 'text/html', etag }).end(`${body} ${versions[path]}`);
      };
    const statuses: number[] = [];
    const site = await bench.open({
      '/': answer('/', '<a href="/a">a</a><a href="/b">b</a>'),
      '/a': answer('/a', '<a href="/">start</a>'),
      '/b': (request, response) => {
        const isSame = request.headers['if-modified-since'] === 'Wed, 21 Oct 2015 07:28:00 GMT';
        statuses.push(isSame ? 304 : 200);
        response
          .writeHead(isSame ? 304 : 200, {
            'content-type': 'text/html',
            'last-modified': 'Wed, 21 Oct 2015 07:28:00 GMT',
          })
          .end(isSame ? '' : '<p>b');
      },
    });
    const first = await bench.home.crawl(crawlOf(`${site.origin}/`));
    versions['/a'] = 2;
    const second = await bench.home.crawl(crawlOf(`${site.origin}/`));
    expect(statuses).toEqual([200, 304]);
    expect(second.text('a.html')).toBe('<a href="index.html">start</a> 2');
    const unchanged = (path: string) => path !== 'a.html';
    expect(second.paths).toEqual(first.paths);
    for (const path of first.paths.filter(unchanged)) expect(second.files.get(path)).toEqual(first.files.get(path));
  });
});

describe('server that fails during a crawl', () => {
  it('is requested again after the time in its Retry-After header', async () => {
    const times: number[] = [];
    const site = await bench.open({
      '/': (_, response) => {
        times.push(performance.now());
        if (times.length === 1) response.writeHead(503, { 'retry-after': '1' }).end();
        else response.writeHead(200, { 'content-type': 'text/html' }).end('<p>start');
      },
    });
    expect((await bench.home.crawl(crawlOf(`${site.origin}/`))).paths).toContain('index.html');
    const [first = 0, second = 0] = times;
    expect(second - first).toBeGreaterThan(950);
  });

  it('causes the export to fail if more than one page in ten cannot be fetched', async () => {
    const links = (count: number) => Array.from({ length: count }, (_, n) => `<a href="/${n}">${n}</a>`).join('');
    const broken: OriginFile = { status: 500 };
    const pages = Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`/${n}`, n < 4 ? broken : '<p>page']));
    const site = await bench.open({ '/': links(30), ...pages });
    await expect(bench.home.crawl(crawlOf(`${site.origin}/`))).rejects.toMatchObject({ code: 'bad_source' });
    const other = await bench.open({ '/': links(30), ...pages, '/0': '<p>page', '/1': '<p>page' });
    const crawled = await bench.home.crawl(crawlOf(`${other.origin}/`));
    expect(crawled.details('not_fetched')).toEqual(
      ['/2', '/3'].map((path) => `${other.origin}${path}: it responds with 500`),
    );
  });
});

const KEPT = `<!doctype html>
<title>caf\u00e9</title>
<link rel="canonical" href="https://docs.example/kept">
<meta property="og:image" content="https://docs.example/og.png">
<meta name="twitter:image" content="https://docs.example/og.png">
<script type="application/ld+json">{"@context":"https://schema.org","image":"https://docs.example/ld.png"}</script>
<form action="/search" method="get"><button formaction="/go">x</button></form>
<blockquote cite="/source">x</blockquote><div itemscope itemtype="https://schema.org/Thing">x</div>
<a href="https://elsewhere.example/x?a=1&b=2">away</a> <a href="mailto:a@b.example">mail</a> <a href="#here">here</a>
<img src="data:image/gif;base64,R0lGODlhAQABAAAAACw=" usemap="#m"><svg><use href="#g"/></svg>
<p   style="filter:url(#f)" >odd   spacing,\tand a lone & <br></p>
<!-- <img src="/in-a-comment.png"> -->
`;

describe('crawled page', () => {
  it('is written byte for byte if it has no references to files', async () => {
    const site = await bench.open({ '/': '<a href="/kept">kept</a>', '/kept': KEPT });
    const crawled = await bench.home.crawl(crawlOf(`${site.origin}/`));
    expect(crawled.text('kept.html')).toBe(KEPT);
    expect(site.requestedPaths().filter((path) => /search|go|source|og\.png|in-a-comment/.test(path))).toEqual([]);
  });

  it('keeps text that only looks like an address', async () => {
    const page = '<p data-full="v1.2/x" data-zoom="1.5" data-large="2.0"><img data-src="gone.png">';
    const site = await bench.crawl({ '/': page });
    expect(site.text('index.html')).toBe(page);
  });

  it('becomes a redirect if its Refresh header points to another page after a delay of at most 3 s', async () => {
    const site = await bench.crawl({
      '/': '<a href="/late">x</a><a href="/self">x</a><a href="/news">x</a><a href="/old">x</a>',
      '/late': { headers: { refresh: '30; url=/' }, body: '<p>late' },
      '/self': { headers: { refresh: '0; url=/self#top' }, body: '<p>self' },
      '/news': { headers: { refresh: '60' }, body: '<p>news' },
      '/old': { headers: { refresh: '3; url=/late' }, body: '<p>old' },
    });
    expect(['late.html', 'self.html', 'news.html'].map((path) => site.text(path))).toEqual([
      '<p>late',
      '<p>self',
      '<p>news',
    ]);
    expect(site.text('_redirects')).toBe('/old /late.html 301\n');
  });

  it('has a redirect from its address to its file if the file has another name', async () => {
    const site = await bench.crawl({
      '/': '<a href="/Help:Start">x</a><a href="/EN/">x</a><a href="/en/">x</a><a href="/en/index.html">x</a><a href="/a%3Fb">x</a>',
      '/Help:Start': '<p>start',
      '/EN/': '<p>upper case',
      '/en/': '<p>lower case',
      '/en/index.html': { status: 301, headers: { location: '/en/' } },
      '/a%3Fb': '<p>name that no rule can contain',
    });
    expect(site.text('en/index.html')).toBe('<p>lower case');
    expect(site.text('_redirects')).toMatch(
      /^\/EN\/ \/EN\/index-[0-9a-f]{8}\.html 301\n\/Help:Start \/Help_Start\.html 301\n$/,
    );
  });

  it.each(['/%3Astart', '/:1'])(
    'has no redirect from its address %s, which a rule would read as a placeholder',
    async (path) => {
      const site = await bench.crawl({
        '/': `<a href="/old">x</a><a href="${path}">x</a>`,
        [path]: '<p>page',
        '/old': { status: 301, headers: { location: '/' } },
      });
      expect(site.text('_redirects')).toBe('/old /index.html 301\n');
    },
  );
});

describe('Content-Encoding of a crawled page', () => {
  it.each(['utf-8', 'none'])('is ignored if it is %s', async (coding) => {
    const site = await bench.crawl({ '/': { headers: { 'content-encoding': coding }, body: '<p>text' } });
    expect(site.text('index.html')).toBe('<p>text');
  });
});

describe('redirects of a crawled site', () => {
  it('come before the redirects of renamed pages in the rule file, which stays under its size limit', async () => {
    const names = Array.from({ length: 1_200 }, (_, at) => `/${'x'.repeat(800)}:${at}`);
    const pages = Object.fromEntries(names.map((name) => [name, `<p>${name.slice(-3)}`]));
    const links = ['/old', ...names].map((name) => `<a href="${name}">x</a>`).join('');
    const site = await bench.crawl({ ...pages, '/': links, '/old': { status: 301, headers: { location: '/' } } });
    const rules = site.text('_redirects');
    expect(rules).toMatch(/^\/old \/index\.html 301\n\/x+:0 \//);
    expect(rules.length).toBeLessThanOrEqual(1024 ** 2);
    expect(rules.length).toBeGreaterThan(1024 ** 2 - 2_000);
    expect(rules.endsWith(' 301\n')).toBe(true);
  });
});

describe('crawled download', () => {
  it('stays compressed if the server declares the compression of a .gz file as Content-Encoding', async () => {
    const packed = gzipSync('file');
    const headers = { 'content-encoding': 'x-gzip' };
    const site = await bench.crawl({
      '/': '<a href="/tool.tar.gz">x</a><a href="/page.gz">x</a><a href="/data.json">x</a>',
      '/tool.tar.gz': { type: 'application/x-tar', headers, body: packed },
      '/page.gz': { type: 'text/html', headers, body: gzipSync('<p>page') },
      '/data.json': { type: 'application/json', headers, body: gzipSync('{}') },
    });
    expect(site.files.get('tool.tar.gz')).toEqual(packed);
    expect(site.text('page.gz.html')).toBe('<p>page');
    expect(site.text('data.json')).toBe('{}');
  });

  it.each([
    ['/app.js.gz', 'text/javascript; charset=utf-8', 'app.js.gz.js', 'go()'],
    ['/app.css.gz', 'text/css', 'app.css.gz.css', 'p{}'],
    ['/app.wasm.gz', 'application/wasm', 'app.wasm.gz.wasm', 'code'],
    ['/index.json.gz', 'application/json', 'index.json.gz', '{}'],
  ])(
    'is decompressed if its path is %s and its type is %s, because pages load files of this type',
    async (path, type, file, text) => {
      const headers = { 'content-encoding': 'gzip' };
      const site = await bench.crawl({
        '/': `<a href="${path}">x</a>`,
        [path]: { type, headers, body: gzipSync(text) },
      });
      expect(site.text(file)).toBe(text);
    },
  );
});

describe('crawled style sheet', () => {
  it('is decoded by its byte order mark regardless of its header, and written as UTF-8', async () => {
    const sheet = Buffer.from('\ufeffa{background:url("a.png")}', 'utf16le');
    const site = await bench.crawl({
      '/': '<link rel=stylesheet href="/s/x.css" integrity="sha384-x">',
      '/s/x.css': { type: 'text/css; charset=utf-8', body: sheet },
      '/s/a.png': { type: 'image/png', body: 'png' },
    });
    expect(site.paths).toContain('s/a.png');
    expect(site.text('s/x.css')).toBe(sheet.toString('utf16le'));
    const digest = createHash('sha384').update(site.text('s/x.css')).digest('base64');
    expect(site.text('index.html')).toContain(`integrity="sha384-${digest}"`);
  });
});

describe('sitemaps of a site', () => {
  it('are read in UTF-16, if the file begins with a byte order mark', async () => {
    const xml = '\ufeff<urlset><url><loc>/c</loc></url></urlset>';
    const body = Buffer.from(xml, 'utf16le');
    const crawled = await bench.crawl({ '/': '<p>home', '/c': '<p>c', '/sitemap.xml': { type: 'text/xml', body } });
    expect(crawled.paths).toContain('c.html');
  });

  it.each(['/sitemap.xml', '/sitemap_index.xml', '/sitemap-index.xml'])('are read from %s', async (path) => {
    const page: OriginFile = '<p>page';
    const pages: Record<string, OriginFile> = { '/': '<p>start', '/a': page };
    pages[path] = (request, response) =>
      response
        .writeHead(200, { 'content-type': 'application/xml' })
        .end(`<urlset><url><loc>http://${request.headers.host}/a</loc></url></urlset>`);
    expect((await bench.crawl(pages)).paths).toContain('a.html');
  });
});
