import { at, found, type Probe } from './crawl-probe.ts';

const link = at('link', 'href');
const sheetOf = found(/xml-stylesheet[^>]*href=["']([^"']+)/);

/** References in XML that is no page, and in headers. */
export const FEED_PROBES: readonly Probe[] = [
  {
    name: 'style sheet of a feed',
    page: '<link rel="alternate" type="application/rss+xml" href="{d}/rss.xml">',
    marked: 'a.xsl',
    answer: { type: 'text/xsl' },
    files: {
      'rss.xml': {
        type: 'application/rss+xml',
        body: '<?xml version="1.0"?>\n<?xml-stylesheet type="text/xsl" href="a.xsl"?>\n<rss/>',
      },
    },
    steps: [link, sheetOf],
  },
  {
    name: 'style sheet of a feed of another origin',
    page: '<link rel="alternate" href="{d}/atom.xml">',
    marked: 'c:a.css',
    files: {
      'atom.xml': {
        type: 'text/xml',
        body: `<?xml version="1.0"?><?xml-stylesheet href='{c}/a.css' type='text/css'?><feed/>`,
      },
    },
    steps: [link, sheetOf],
  },
  {
    name: 'tiles of a site',
    page: '<meta name="msapplication-config" content="{d}/browserconfig.xml">',
    marked: 'a.png',
    files: {
      'browserconfig.xml': {
        type: 'application/xml',
        body: '<browserconfig><msapplication><tile><square70x70logo src="a.png"/></tile></msapplication></browserconfig>',
      },
    },
    steps: [at('meta', 'content'), found(/src="([^"]+)/)],
  },
  {
    name: 'refresh header',
    page: '<a href="{d}/old">x</a>',
    marked: 'a.html',
    files: { old: { type: 'text/html', headers: { refresh: '0; URL="{d}/a.html"' }, body: '<p>moved' } },
    steps: [at('a', 'href')],
  },
];
