import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { checkSite } from '../../../src/export/check-site.ts';
import { mediaTypeOf } from '../../../src/web/media-type.ts';
import { newFolder } from '../../helpers/new-folder.ts';
import { writeFiles } from '../../helpers/write-files.ts';

const NEVER = new AbortController().signal;

let siteDir: string;

beforeEach(async () => {
  siteDir = newFolder();
});

type Site = Readonly<Record<string, string | Buffer>>;
interface Wish {
  readonly hosts?: readonly string[];
  readonly types?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Findings as `kind page detail`. */
async function check(site: Site, { hosts = [], types = {}, signal = NEVER, onProgress = () => undefined }: Wish = {}) {
  const files = [];
  await writeFiles(siteDir, site);
  for (const [path, content] of Object.entries(site).sort(([a], [b]) => (a < b ? -1 : 1))) {
    files.push({ path, size: content.length, sha256: '', type: types[path] ?? mediaTypeOf(path) });
  }
  const found: string[] = [];
  await checkSite({
    siteDir,
    spoolFile: join(siteDir, '.references'),
    files,
    hosts,
    find: ({ kind, page, detail }) => found.push(`${kind} ${page} ${detail}`),
    onProgress,
    signal,
  });
  return found;
}

const links = (...urls: string[]) => urls.map((url) => `<a href="${url}">x</a>`).join('');
const broken = (page: string, url: string) => `broken_reference ${page} a href="${url}"`;
const missing = (page: string, url: string) => `missing_fragment ${page} a href="${url}"`;

describe('references in checkSite()', () => {
  it('are valid if docshelf serves them: files, pages without extension, folders, encoded names, queries', async () => {
    const urls = ['/a', '/a.html', 'a', './a?x=1', '/b', '/b/', '/b/index.html', '/%C3%A9%20x.pdf', '/a#', '?q', ''];
    expect(await check({ 'index.html': links(...urls), 'a.html': '', 'b/index.html': '', 'é x.pdf': '' })).toEqual([]);
  });

  it('cause findings that are sorted by page, then by position on the page', async () => {
    const found = await check({
      'b.html': links('/none', 'a'),
      'a.html': `${links('none/')}<img src=i.png><script src=/s.js></script><img srcset="1.png 1x, 2.png 2x">`,
      '1.png': '',
    });
    expect(found).toEqual([
      broken('a.html', 'none/'),
      'broken_reference a.html img src="i.png"',
      'broken_reference a.html script src="/s.js"',
      'broken_reference a.html img srcset="2.png"',
      broken('b.html', '/none'),
    ]);
  });

  it('in a style sheet are resolved against the address of the style sheet', async () => {
    const found = await check({
      'a/b.html':
        '<style>@import "none.css"; p { background: url(../img/i.png) }</style>' +
        '<p style="background: url(&quot;gone.png&quot;)"><svg><rect fill="url(#g)"/></svg>',
      'css/site.css':
        '@font-face { src: url(../img/i.png), url("f.woff2") } @import url(//fonts.example/x.css); .q { c: url(data:,x) }',
      'img/i.png': '',
      'wide.css': Buffer.from('\ufeffa { b: url(w.png) }', 'utf16le'),
    });
    expect(found).toEqual([
      'broken_reference a/b.html style @import="none.css"',
      'broken_reference a/b.html style url="gone.png"',
      'broken_reference css/site.css style url="f.woff2"',
      'off_origin_load css/site.css style @import="//fonts.example/x.css" from fonts.example',
      'broken_reference wide.css style url="w.png"',
    ]);
  });

  it('are ignored if they name no page or file', async () => {
    const urls = ['mailto:a@b.c', 'tel:1', 'javascript:void 0', 'data:text/html,x', 'blob:x', 'vscode://file'];
    expect(await check({ 'index.html': links(...urls) })).toEqual([]);
  });

  it('are broken if they resolve to files that docshelf never serves', async () => {
    const site = { 'index.html': links('/.git/config', '/_docshelf/manifest.json'), '.git/config': '' };
    expect((await check(site)).length).toBe(2);
  });

  it('are broken if their path cannot be decoded', async () => {
    expect(await check({ 'index.html': links('/%ff') })).toEqual([broken('index.html', '/%ff')]);
  });

  it('are broken if they name a file on the machine of the author', async () => {
    const url = 'file:///C:/docs/a.html';
    const site = { 'a.html': `<script src="file:///usr/share/x.js"></script>${links(url)}` };
    expect(await check(site)).toEqual([
      'broken_reference a.html script src="file:///usr/share/x.js"',
      broken('a.html', url),
    ]);
  });

  it('are resolved against <base href>, including fragments', async () => {
    const site = { 'a/b.html': `<base href="/c/">${links('d', '#x', '../a/b#y')}<p id=y>`, 'c/d.html': '' };
    expect(await check(site)).toEqual([broken('a/b.html', '#x')]);
  });

  it('on the page a/index.html are resolved against /a or /a/, depending on which of these addresses the links to the page use', async () => {
    // For a link without the slash, relative references start one folder higher.
    const picture = '<img src="p.png">';
    const withSlash = { 'index.html': links('/a/'), 'a/index.html': picture, 'a/p.png': '' };
    expect(await check(withSlash)).toEqual([]);
    await rm(siteDir, { recursive: true });
    const withoutSlash = { 'index.html': links('/a'), 'a/index.html': picture, 'p.png': '' };
    expect(await check(withoutSlash)).toEqual([]);
  });

  it('on the page a/index.html are resolved in folder a, even if a page a.html exists', async () => {
    const site = {
      'index.html': links('/a', '/b', '/c'),
      'a.html': '',
      'a/index.html': '<img src="p.png">',
      'a/p.png': '',
      'b/index.html': links('/c'),
      'c/index.html': links('/b'),
    };
    expect(await check(site)).toEqual([]);
  });
});

describe('absolute references in checkSite()', () => {
  const canonical = (url: string) => `<link rel="canonical" href="${url}">`;

  it('are internal if they begin with the origin and path prefix in the canonical links of the pages', async () => {
    const at = 'https://acme.github.io/docs';
    const site = {
      'index.html': canonical(`${at}/`),
      'a.html': canonical(`${at}/a`) + links(`${at}/b/`, `${at}/none`, 'https://acme.github.io/other'),
      'b/index.html': canonical(`${at}/b/`),
    };
    expect(await check(site)).toEqual([broken('a.html', `${at}/none`)]);
  });

  it('are internal if the config lists their host as a host of the site', async () => {
    const site = { 'index.html': links('https://docs.acme.dev/none', '//docs.acme.dev/', 'https://acme.dev/none') };
    expect(await check(site, { hosts: ['docs.acme.dev'] })).toEqual([
      broken('index.html', 'https://docs.acme.dev/none'),
    ]);
  });

  it('are external if the canonical link of their page has a different path than the page', async () => {
    const site = { 'v1/a.html': canonical('https://acme.dev/v2/b') + links('https://acme.dev/none') };
    expect(await check(site)).toEqual([]);
  });
});

describe('fragments of links in checkSite()', () => {
  it('match ids and anchor names on the same page and on other pages, encoded or not', async () => {
    const site = {
      'index.html': `<h2 id="über uns">x</h2>${links('#%C3%BCber%20uns', '/a#old', '/a/#new', 'a.html#new')}`,
      'a.html': '<a name=old></a><p id=new>',
    };
    expect(await check(site)).toEqual([]);
  });

  it('cause a finding if the target page does not contain the fragment', async () => {
    const site = {
      'index.html': links('#none', '/a/#none', '/b#x'),
      'a.html': '<p id=None>',
      'b/index.html': links('/b/'),
    };
    const urls = ['#none', '/a/#none', '/b#x'];
    expect(await check(site)).toEqual(urls.map((url) => missing('index.html', url)));
  });

  it('are valid if they are empty, #top, a text fragment or a route of a script such as #/route', async () => {
    const urls = ['#', '#top', '#TOP', '#:~:text=foo', '#x:~:text=foo', '/a#:~:text=a,b', '#/route', '#!/route?a=b'];
    expect(await check({ 'index.html': `<p id=x>${links(...urls)}`, 'a.html': '' })).toEqual([]);
    expect(await check({ 'index.html': links('#y:~:text=foo') })).toEqual([missing('index.html', '#y:~:text=foo')]);
  });

  it('are not checked if the target is not a page', async () => {
    const site = {
      'index.html': `${links('/m.pdf#page=2')}<svg><use href="/s.svg#i"/><use href="#j"/></svg>`,
      'm.pdf': '',
      's.svg': '',
    };
    expect(await check(site)).toEqual([]);
  });

  it('match the decoded ids of a target page that is not in UTF-8', async () => {
    const site = { 'index.html': links('/a#%C3%A9'), 'a.html': Buffer.from('<p id=\xe9>', 'latin1') };
    expect(await check(site, { types: { 'a.html': 'text/html; charset=windows-1252' } })).toEqual([]);
  });
});

describe('references to other hosts in checkSite()', () => {
  it('cause findings for files that a page loads, but not for links', async () => {
    const found = await check({
      'index.html': `<link rel=stylesheet href=https://fonts.dev/a.css><link rel=preconnect href=https://fonts.dev>
        <link rel=me href=https://social.dev/><link rel=canonical href=https://else.dev/x><a href=https://link.dev/>x</a>
        <script src=//cdn.dev:8443/a.js></script><iframe src="https://video.dev/1"></iframe><img srcset="http://img.dev/2.png 2x">`,
    });
    expect(found).toEqual([
      'off_origin_load index.html link href="https://fonts.dev/a.css" from fonts.dev',
      'off_origin_load index.html script src="//cdn.dev:8443/a.js" from cdn.dev:8443',
      'off_origin_load index.html iframe src="https://video.dev/1" from video.dev',
      'off_origin_load index.html img srcset="http://img.dev/2.png" from img.dev',
    ]);
  });
});

describe('checkSite() (link check of an exported site)', () => {
  it('counts each page twice in its progress, because it reads the pages in two passes', async () => {
    const reported: [number, number][] = [];
    const site = { 'a.html': '', 'b.htm': '', 'c.xhtml': '', 'd.txt': links('/none') };
    expect(await check(site, { onProgress: (done, total) => reported.push([done, total]) })).toEqual([]);
    expect(reported).toEqual([1, 2, 3, 4, 5, 6].map((done) => [done, 6]));
  });

  it('stops when aborted', async () => {
    const stop = new AbortController();
    const reason = new Error('canceled');
    const site = Object.fromEntries(Array.from({ length: 30 }, (_, at) => [`${at}.html`, '']));
    let done = 0;
    const onProgress = () => {
      done += 1;
      if (done === 5) stop.abort(reason);
    };
    await expect(check(site, { signal: stop.signal, onProgress })).rejects.toBe(reason);
    expect(done).toBe(5);
  });

  it('shortens long addresses and removes control characters from addresses in its findings', async () => {
    const [found = ''] = await check({ 'index.html': links(`/${'x'.repeat(5000)}\u001b`) });
    expect(found.length).toBeLessThan(300);
    expect(found).not.toContain('\u001b');
  });
});
