import { gzipSync } from 'node:zlib';
import type { OriginFile } from '../crawl/origin.ts';
import { at, found, type Probe } from './crawl-probe.ts';

const img = at('img', 'src');
const a = at('a', 'href');
const HTML = { type: 'text/html' } as const;

/** A picture whose address is written like this. */
const written = (name: string, src: string, marked: string, more: Partial<Probe> = {}): Probe => ({
  name: `address with ${name}`,
  page: `<img src="${src}">`,
  marked,
  steps: [img],
  ...more,
});

/** A link to a page. */
const linked = (name: string, href: string, marked: string | null, more: Partial<Probe> = {}): Probe => ({
  name,
  page: `<a href="${href}">x</a>`,
  marked,
  answer: HTML,
  served: 'text/html',
  steps: [a],
  ...more,
});

const redirect = (location: string, status = 301): OriginFile => ({ status, headers: { location } });

/** How an address may be written, what it may answer, and what its file is called. */
export const ADDRESS_PROBES: readonly Probe[] = [
  written('no scheme', '//{cdnhost}{d}/a.png', 'c:a.png'),
  written('the own origin', '{site}{d}/a.png', 'a.png'),
  written('a user', 'http://user:pass@{sitehost}{d}/a.png', 'a.png'),
  written('an upper case scheme', 'HTTP://{sitehost}{d}/a.png', 'a.png'),
  written('no host but a scheme', 'http:{d}/a.png', 'a.png'),
  written('line breaks', '\n{d}/sub\n/a\t.png ', 'sub/a.png'),
  written('backslashes', '\\f\\address-with-backslashes\\a.png', 'a.png'),
  written('dots', '{d}/x/../y/./../a.png', 'a.png'),
  written('encoded dots', '{d}/x/%2e%2E/a.png', 'a.png'),
  written('too many dots', '/../../..{d}/a.png', 'a.png'),
  written('an encoded letter', '{d}/%61.png', '%61.png'),
  written('an encoded number sign', '{d}/a%23b.png', 'a%23b.png'),
  written('an encoded question mark', '{d}/a%3Fb.png', 'a%3Fb.png'),
  written('an encoded slash', '{d}/a%2Fb.png', 'a%2Fb.png'),
  written('an encoded per cent', '{d}/a%2541.png', 'a%2541.png'),
  written('a lone per cent', '{d}/100%.png', '100%.png'),
  written('spaces', '{d}/a b c.png', 'a%20b%20c.png'),
  written('letters beyond ascii', '{d}/日本語.png', `${encodeURI('日本語')}.png`),
  written('a decomposed letter', `{d}/u\u0308.png`, encodeURI('u\u0308.png')),
  written('entities', '{d}/a&#46;png?b&#x3D;1&amp;c=2', 'a.png?b=1&c=2'),
  written('entities without semicolons', '{d}/a.png?x=1&copy=2&lt', 'a.png?x=1&copy=2%3C'),
  written('a colon', '{d}/a:b.png', 'a:b.png'),
  written('what windows refuses', '{d}/con.png', 'con.png'),
  written('an asterisk and a bar', '{d}/a*b|c.png', 'a*b|c.png'),
  written('a dot at its end', '{d}/a.', 'a.', { answer: { type: 'image/png' }, served: 'image/png' }),
  written('a hidden folder', '{d}/.assets/a.png', '.assets/a.png'),
  written('a long name', `{d}/${'a'.repeat(300)}.png`, `${'a'.repeat(300)}.png`),
  written('parameters', '{d}/a.png;jsessionid=1', 'a.png;jsessionid=1', {
    answer: { type: 'image/png' },
    served: 'image/png',
  }),
  written('an empty query', '{d}/a.png?', 'a.png'),
  written('capital letters', '{d}/A.png', 'A.png', {
    files: { 'a.png': 'the other one' },
    page: '<img src="{d}/A.png"><img src="{d}/a.png">',
  }),
  written('capital folders', '{d}/Sub/a.png', 'Sub/a.png', {
    files: { 'sub/a.png': 'the other one' },
    page: '<img src="{d}/Sub/a.png"><img src="{d}/sub/a.png">',
  }),
  written('one query', '{d}/i.png?w=2', 'i.png?w=2', {
    files: { 'i.png?w=1': 'one', 'i.png': 'plain' },
    page: '<img src="{d}/i.png?w=2"><img src="{d}/i.png?w=1"><img src="{d}/i.png">',
  }),
  written('a query that names a path', '{d}/image?url=%2Fimg%2Fa.png&amp;w=640', 'image?url=%2Fimg%2Fa.png&w=640', {
    answer: { type: 'image/webp' },
    served: 'image/webp',
  }),
  written('a long query', `{d}/i?q=${'x'.repeat(1500)}`, `i?q=${'x'.repeat(1500)}`, {
    answer: { type: 'image/png' },
    served: 'image/png',
  }),
  written('another extension than its type', '{d}/a.php', 'a.php', {
    answer: { type: 'image/png' },
    served: 'image/png',
  }),
  written('another picture type', '{d}/a.jpg', 'a.jpg', { answer: { type: 'image/svg+xml' }, served: 'image/svg+xml' }),
  written('no extension', '{d}/avatar', 'avatar', {
    answer: { type: 'image/svg+xml; charset=utf-8' },
    served: 'image/svg+xml',
  }),
  written('a file that others need as folder', '{d}/a', 'a', {
    page: '<img src="{d}/a"><img src="{d}/a/b.png">',
    files: { 'a/b.png': 'x' },
    answer: { type: 'application/octet-stream' },
  }),
  linked('page without an extension', '{d}/a', 'a'),
  linked('page with a fragment', '{d}/a#part', 'a'),
  linked('page of another type of name', '{d}/a.aspx?id=3', 'a.aspx?id=3'),
  linked('page with a version for a name', '{d}/v1.2', 'v1.2'),
  linked('page that is a folder too', '{d}/a', 'a', {
    files: { 'a/': { ...HTML, body: 'other' }, 'a/b': { ...HTML, body: 'child' } },
    page: '<a href="{d}/a">x</a><a href="{d}/a/b">y</a><a href="{d}/a/">z</a>',
  }),
  linked('child of a page', '{d}/a/b', 'a/b', {
    files: { a: { ...HTML, body: 'parent <a href="a/b">child</a>' } },
    page: '<a href="{d}/a">x</a>',
    steps: [a, a],
  }),
  linked('folder page', '{d}/a/', 'a/'),
  linked('folder page without its slash', '{d}/a', 'a/', { files: { a: redirect('{d}/a/') } }),
  linked('relative from a folder page', '{d}/a/', 'b', {
    files: { 'a/': { ...HTML, body: '<a href="../b">x</a>' } },
    steps: [a, a],
  }),
  linked('page in two cases', '{d}/Guide', 'Guide', {
    files: { guide: { ...HTML, body: 'other' } },
    page: '<a href="{d}/Guide">x</a><a href="{d}/guide">y</a>',
  }),
  linked('page by its own host without a scheme', '//{sitehost}{d}/a', 'a'),
  linked('fragment beyond ascii', '{d}/a#%C3%BC', 'a'),
  linked('index of a folder', '{d}/a/index.html', 'a/index.html', {
    page: '<a href="{d}/a/index.html">x</a><a href="{d}/a/">y</a>',
    files: { 'a/': { ...HTML, body: 'other' } },
  }),
  linked('query alone', '?page=2', null, { marked: '/probe/query-alone?page=2' }),
  linked('empty address', '', null, { page: '<a href="">x</a>MARK-empty-address-END', answer: {} }),
  linked('fragment alone', '#part', null, { page: '<a href="#part">x</a><p id=part>MARK-fragment-alone-END' }),
  linked('page only in a frame of a page', '{d}/b', 'a', {
    files: { b: { ...HTML, body: '<iframe src="a"></iframe>' } },
    steps: [a, at('iframe', 'src')],
  }),
  linked('redirect to a page', '{d}/old', 'new', { files: { old: redirect('{d}/new') } }),
  linked('redirect with a fragment', '{d}/old', 'new', { files: { old: redirect('{d}/new#part', 308) } }),
  linked('redirect chain', '{d}/1', 'new', {
    files: { 1: redirect('{d}/2', 302), 2: redirect('3', 307), 3: redirect('./new', 303) },
  }),
  linked('redirect to a query', '{d}/old', 'new?v=2', { files: { old: redirect('{d}/new?v=2') } }),
  {
    name: 'redirect to a picture',
    page: '<img src="{d}/latest.png">',
    marked: 'c:v2/a.png',
    files: { 'latest.png': redirect('{c}/v2/a.png', 302) },
    steps: [img],
  },
  {
    name: 'redirect to a picture of another type',
    page: '<img src="{d}/latest">',
    marked: 'a.webp',
    files: { latest: redirect('{d}/a.webp', 302) },
    steps: [img],
    served: 'image/webp',
  },
  {
    name: 'download by query',
    page: '<a href="{d}/get?id=7">x</a>',
    marked: 'get?id=7',
    answer: { type: 'application/zip', headers: { 'content-disposition': 'attachment; filename="x.zip"' } },
    served: 'application/zip',
    steps: [a],
  },
  {
    name: 'file of an unknown type',
    page: '<a href="{d}/a.xyz" download>x</a>',
    marked: 'a.xyz',
    answer: { type: 'application/octet-stream' },
    steps: [a],
  },
  {
    name: 'answer in gzip',
    page: '<link rel=stylesheet href="{d}/s.css">',
    marked: 'a.png',
    files: {
      's.css': {
        type: 'text/css',
        headers: { 'content-encoding': 'gzip' },
        body: gzipSync('p{background:url(a.png)}'),
      },
    },
    steps: [at('link', 'href'), found(/url\(([^)]+)/)],
  },
  {
    name: 'gzip as a file',
    page: '<a href="{d}/a.tar.gz">x</a>',
    marked: 'a.tar.gz',
    answer: { type: 'application/gzip' },
    steps: [a],
  },
];
