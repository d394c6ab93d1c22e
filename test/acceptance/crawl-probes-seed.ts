import type { OriginFile } from '../crawl/origin.ts';
import { known, markedBody, markOf, type Probe } from './crawl-probe.ts';

const page = (name: string): OriginFile => ({ type: 'text/html', body: markedBody('text/html', markOf(name)) });
const seeded = (name: string, address: string): Probe => ({
  name,
  page: '<p>Nothing leads on from here.</p>',
  marked: null,
  steps: [known(address)],
});

/** Pages that no other page leads to. */
export const SEED_PROBES: readonly Probe[] = [
  seeded('page of a sitemap', '/seed/sitemap.html'),
  seeded('page of a sitemap in gzip', '/seed/gzip.html'),
  seeded('page of a sitemap of robots txt', '/seed/robots.html'),
  seeded('page of a feed of robots txt', '/seed/feed.html'),
  seeded('page of llms txt', '/seed/llms.html'),
  seeded('markdown of llms txt', '/seed/llms.md'),
];

const sitemap = (...pages: string[]): string =>
  `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${pages.map((path) => `<url><loc>{site}${path}</loc></url>`).join('')}</urlset>`;

/** What names them; the gzip has its address told when it is made. */
export const seedFiles = (gzipped: (text: string) => Buffer): Readonly<Record<string, OriginFile>> => ({
  '/robots.txt': {
    type: 'text/plain',
    body: 'User-agent: *\nSitemap: {site}/hidden/map.xml\nSitemap: {site}/hidden/rss.xml\n',
  },
  '/hidden/map.xml': { type: 'application/xml', body: sitemap('/seed/robots.html') },
  '/hidden/rss.xml': {
    type: 'application/rss+xml',
    body: '<rss><channel><link>{site}/</link><item><link>{site}/seed/feed.html</link></item></channel></rss>',
  },
  '/sitemap.xml': {
    type: 'application/xml',
    body: '<sitemapindex><sitemap><loc>{site}/sitemap-1.xml</loc></sitemap><sitemap><loc>{site}/sitemap-2.xml.gz</loc></sitemap></sitemapindex>',
  },
  '/sitemap-1.xml': { type: 'application/xml', body: sitemap('/seed/sitemap.html') },
  '/sitemap-2.xml.gz': { type: 'application/gzip', body: gzipped(sitemap('/seed/gzip.html')) },
  '/llms.txt': {
    type: 'text/plain',
    body: '# Site\n\n- [One](/seed/llms.html): a page\n- [Two]({site}/seed/llms.md)\n',
  },
  '/seed/sitemap.html': page('page of a sitemap'),
  '/seed/gzip.html': page('page of a sitemap in gzip'),
  '/seed/robots.html': page('page of a sitemap of robots txt'),
  '/seed/feed.html': page('page of a feed of robots txt'),
  '/seed/llms.html': page('page of llms txt'),
  '/seed/llms.md': { type: 'text/markdown', body: markOf('markdown of llms txt') },
});
