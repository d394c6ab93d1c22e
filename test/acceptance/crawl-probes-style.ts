import { at, cssUrl, found, type Probe } from './crawl-probe.ts';

const sheet = at('link', 'href');
const URL_IN_CSS = /url\(\s*["']?([^"')]+)/i;
const SHEET = '<link rel="stylesheet" href="{d}/s.css">';

/** A style sheet of the probe's folder that names the marked file. */
const styled = (name: string, css: string, marked: string, pattern = URL_IN_CSS, more: Partial<Probe> = {}): Probe => ({
  name: `css ${name}`,
  page: SHEET,
  marked,
  steps: [sheet, found(pattern)],
  ...more,
  files: { 's.css': css, ...more.files },
});

/** References in style sheets. */
export const STYLE_PROBES: readonly Probe[] = [
  styled('url', 'p{background:url(a.png)}', 'a.png'),
  styled('url in quotes', 'p{background:URL( "a b.png" )}', 'a%20b.png'),
  styled('url with escapes', 'p{background:url(\\61\\.png)}', 'a.png', URL_IN_CSS, { steps: [sheet, cssUrl] }),
  styled('url with escaped brackets', 'p{background:url(a\\(1\\).png)}', 'a(1).png'),
  styled('url with an escape in quotes', "p{background:url('\\000061.p\\\nng')}", 'a.png', URL_IN_CSS, {
    steps: [sheet, cssUrl],
  }),
  styled('url of another origin', 'p{background:url({c}/a.png)}', 'c:a.png'),
  styled('import of a string', "@import 'a.css';", 'a.css', /@import '([^']+)/),
  styled('import of a url', '@import url(a.css);', 'a.css'),
  styled(
    'import with layer',
    '@import url("a.css") layer(base) supports(display: grid) screen and (min-width: 1px);',
    'a.css',
  ),
  styled(
    'import with layer of a string',
    '@charset "utf-8";@layer a;@import "a.css" layer(x) print;',
    'a.css',
    /@import "([^"]+)/,
  ),
  styled('import in an import', '@import "b.css";', 'a.png', /@import "([^"]+)/, {
    files: { 'b.css': '@import url({c}/c.css);', 'c:c.css': 'p{cursor:url(deep/../a.png),auto}' },
    marked: 'c:a.png',
    steps: [sheet, found(/@import "([^"]+)/), found(URL_IN_CSS), found(URL_IN_CSS)],
  }),
  styled('import in a circle', '@import "b.css";', 'a.png', /@import "([^"]+)/, {
    files: { 'b.css': '@import "s.css"; p{background:url(a.png)}' },
    steps: [sheet, found(/@import "([^"]+)/), found(URL_IN_CSS)],
  }),
  styled(
    'import of fonts by a query',
    '@import url("{cdn}/css2?family=A:wght@400;700&display=swap");',
    'c:a.woff2',
    URL_IN_CSS,
    {
      files: {
        'c:/css2?family=A:wght@400;700&display=swap': {
          type: 'text/css; charset=utf-8',
          body: '@font-face{font-family:A;src:url({c}/a.woff2) format("woff2");unicode-range:U+0-FF}',
        },
      },
      steps: [sheet, found(/@import url\("([^"]+)/), found(URL_IN_CSS)],
    },
  ),
  styled('image-set', 'p{background:image-set("b.png" 1x, "a.png" 2x)}', 'a.png', /"([^"]+)" 2x/, {
    files: { 'b.png': 'x' },
  }),
  styled('image-set with types', 'p{background:-webkit-image-set(url(a.avif) type("image/avif") 1x)}', 'a.avif'),
  styled(
    'font-face',
    '@font-face{font-family:F;src:local("F"),url("b.eot?#iefix") format("embedded-opentype"),url(a.woff2) format("woff2")}',
    'a.woff2',
    /url\(([^)]+)\) format\("woff2/,
    { files: { 'b.eot?': { type: 'font/eot', body: 'x' } } },
  ),
  styled(
    'font-face by range',
    '@font-face{src:url(b.woff2);unicode-range:U+0-FF}@font-face{src:url(a.woff2);unicode-range:U+100-1FF}',
    'a.woff2',
    /.*url\(([^)]+)/,
    { files: { 'b.woff2': 'x' } },
  ),
  styled('svg font with fragment', '@font-face{src:url(a.svg#part) format("svg")}', 'a.svg'),
  styled('cursor', 'p{cursor:url(a.cur) 2 2,pointer}', 'a.cur'),
  styled('custom property', ':root{--hero:url(a.png)}p{background:var(--hero)}', 'a.png'),
  styled('custom property in quotes', ':root{--hero: url("a.png") no-repeat }', 'a.png'),
  styled('property fallback', 'p{background:var(--x, url(a.png))}', 'a.png'),
  styled('mask', 'p{-webkit-mask:url(a.svg#part);mask-image:url(a.svg#part)}', 'a.svg'),
  styled('filter', 'p{filter:url(#own)}q{filter:url(a.svg#part)}', 'a.svg', /.*url\(([^)#]+)/),
  styled('content', 'p::before{content:url(a.svg)}', 'a.svg'),
  styled('list-style', 'ul{list-style:square url(a.gif)}', 'a.gif'),
  styled('border-image', 'p{border-image:url(a.png) 30 round}', 'a.png'),
  styled('shape-outside', 'p{shape-outside:url(a.png)}', 'a.png'),
  styled('nested rules', '@media screen{@supports (display:grid){.a{&:hover{background:url(a.png)}}}}', 'a.png'),
  styled('container and layer', '@layer x{@container (min-width:1px){p{background:url(a.png)}}}', 'a.png'),
  styled('behind a faulty rule', 'p{color:;;}}} @foo bar; q{background:url(a.png)}', 'a.png'),
  styled(
    'behind a comment',
    '/* url(no.png) @import "no.css"; */p{background:/**/url(a.png)}',
    'a.png',
    /\*\/url\(([^)]+)/,
  ),
  styled('behind a byte order mark', '\ufeff@import "a.css";', 'a.css', /@import "([^"]+)/),
  styled('minified', '.a{background:#fff url(a.png)no-repeat 0 0/10px}.b{color:red}', 'a.png'),
  styled(
    'namespace left alone',
    '@namespace svg url(http://www.w3.org/2000/svg);p{background:url(a.png)}',
    'a.png',
    /background:url\(([^)]+)/,
  ),
  styled(
    'data left alone',
    "p{background:url(data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E)}q{background:url(a.png)}",
    'a.png',
    /q\{background:url\(([^)]+)/,
  ),
  styled('src function', '@font-face{src:src("a.woff2")}', 'a.woff2', /src\("([^"]+)/),
  styled('page rule', '@page :first{background:url(a.png)}', 'a.png'),
  styled('counter style', '@counter-style c{system:cyclic;symbols:url(a.png);suffix:" "}', 'a.png'),
  {
    name: 'css in another charset',
    page: '<link rel="stylesheet" href="{d}/s.css">',
    marked: 'a.png',
    files: {
      's.css': {
        type: 'text/css; charset=Shift_JIS',
        body: Buffer.from([
          ...Buffer.from('p::before{content:"'),
          0x83,
          0x5c,
          0x95,
          0x5c,
          ...Buffer.from('"}q{background:url(a.png)}'),
        ]),
      },
    },
    steps: [sheet, found(URL_IN_CSS)],
  },
  {
    name: 'css without an extension',
    page: '<link rel="stylesheet" href="{d}/load.php?modules=a|b&amp;only=styles">',
    marked: 'load.php?modules=a|b&only=styles',
    answer: { type: 'text/css' },
    served: 'text/css',
    steps: [sheet],
  },
  {
    name: 'css sent as text',
    page: '<link rel="stylesheet" href="{d}/s.css">',
    marked: 'a.png',
    files: { 's.css': { type: 'text/plain', body: 'p{background:url(a.png)}' } },
    steps: [sheet, found(URL_IN_CSS)],
  },
  {
    name: 'css of a redirect',
    page: '<link rel="stylesheet" href="{d}/latest.css">',
    marked: 'v2/a.png',
    files: {
      'latest.css': { status: 302, headers: { location: '{d}/v2/s.css' } },
      'v2/s.css': 'p{background:url(a.png)}',
    },
    steps: [sheet, found(URL_IN_CSS)],
  },
  {
    name: 'css in utf 16',
    page: SHEET,
    marked: 'a.png',
    files: { 's.css': { type: 'text/css', body: Buffer.from('\ufeffp{background:url("a.png")}', 'utf16le') } },
    steps: [sheet, (from) => cssUrl({ ...from, text: from.text.replaceAll('\0', '') })],
  },
];
