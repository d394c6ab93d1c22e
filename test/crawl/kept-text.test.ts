import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CrawlHome, crawlOf } from './crawled-site.ts';
import { type Origin, type OriginFile, originOf } from './origin.ts';

let home: CrawlHome;
const origins: Origin[] = [];

async function crawled(files: Readonly<Record<string, OriginFile>>) {
  const origin = await originOf(files);
  origins.push(origin);
  return home.crawl(crawlOf(`${origin.origin}/`));
}

const LIMIT_MS = 30_000;

beforeEach(async () => {
  home = await CrawlHome.make();
});
afterEach(async () => {
  for (const origin of origins.splice(0)) await origin.close();
  await home.remove();
});

describe('a page', () => {
  it(
    'keeps what looks like an address and leads to nothing',
    async () => {
      const page = '<p data-full="v1.2/x" data-zoom="1.5" data-large="2.0"><img data-src="gone.png">';
      const site = await crawled({ '/': page });
      expect(site.text('index.html')).toBe(page);
    },
    LIMIT_MS,
  );

  it(
    'that a header leads on late, or to itself, is there to be read',
    async () => {
      const site = await crawled({
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
    },
    LIMIT_MS,
  );
});

describe('a style sheet', () => {
  it(
    'is read by its first bytes, whatever its header says, and written as UTF-8',
    async () => {
      const sheet = Buffer.from('\ufeffa{background:url("a.png")}', 'utf16le');
      const site = await crawled({
        '/': '<link rel=stylesheet href="/s/x.css" integrity="sha384-x">',
        '/s/x.css': { type: 'text/css; charset=utf-8', body: sheet },
        '/s/a.png': { type: 'image/png', body: 'png' },
      });
      expect(site.paths).toContain('s/a.png');
      expect(site.text('s/x.css')).toBe(sheet.toString('utf16le'));
      const digest = createHash('sha384').update(site.text('s/x.css')).digest('base64');
      expect(site.text('index.html')).toContain(`integrity="sha384-${digest}"`);
    },
    LIMIT_MS,
  );
});

describe('sitemaps', () => {
  it.each(['/sitemap.xml', '/sitemap_index.xml', '/sitemap-index.xml'])(
    '%s is looked for',
    async (path) => {
      const page: OriginFile = '<p>page';
      const pages: Record<string, OriginFile> = { '/': '<p>start', '/a': page };
      pages[path] = (request, response) =>
        response
          .writeHead(200, { 'content-type': 'application/xml' })
          .end(`<urlset><url><loc>http://${request.headers.host}/a</loc></url></urlset>`);
      expect((await crawled(pages)).paths).toContain('a.html');
    },
    LIMIT_MS,
  );
});
