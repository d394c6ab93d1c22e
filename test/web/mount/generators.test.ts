import { describe, expect, it } from 'vitest';
import { mediaTypeOf } from '../../../src/web/media-type.ts';
import { isServedPath } from '../../../src/web/mount/base-path.ts';
import { mountFile } from '../../../src/web/mount/index.ts';

const FILES = ['index.html', 'a.html', 'search-index.json', 'images/a.png', 'index.txt', 'de/index.html'];

function rewritten(path: string, text: string, from: string, to: string): string {
  const table = new Set(FILES);
  const site = { from, to, has: (each: string) => isServedPath(table, each) };
  return Buffer.from(mountFile({ path, type: mediaTypeOf(path), bytes: Buffer.from(text) }, site)).toString();
}

/** Mounts a file from the root to `/team/docs/`, and back to the original. */
function expectMounted(path: string, text: string, expected: string): void {
  expect(rewritten(path, text, '/', '/team/docs/')).toBe(expected);
  expect(rewritten(path, expected, '/team/docs/', '/')).toBe(text);
}

/** Expects this for a file with `^` before each address that docshelf rewrites. */
function expectMarked(path: string, marked: string): void {
  expectMounted(path, marked.replaceAll('^', ''), marked.replaceAll('^/', '/team/docs/'));
}

describe('mountFile() for Next.js at another base path', () => {
  it.each([
    [
      'chunks and pictures',
      'let k="/_next/",l={src:"/_next/static/media/a.png"}',
      'let k="/team/docs/_next/",l={src:"/team/docs/_next/static/media/a.png"}',
    ],
    [
      'the function that adds the base path',
      'function l(e,t){return(0,a.n)((0,n.addPathPrefix)(e,""))}',
      'function l(e,t){return(0,a.n)((0,n.addPathPrefix)(e,"/team/docs"))}',
    ],
    [
      'the function that checks the base path',
      'function a(e){return(0,n.pathHasPrefix)(e,"")}',
      'function a(e){return(0,n.pathHasPrefix)(e,"/team/docs")}',
    ],
  ])('rewrites these parts of a script: %s', (_, script, expected) => {
    expectMounted('a.js', script, expected);
  });

  it('fills in the body of removeBasePath(), which a build without a base path leaves empty', () => {
    const script = 'function n(e){return e}e.i(1),Object.defineProperty(r,"removeBasePath",{get:function(){return n}})';
    const made = rewritten('a.js', script, '/', '/team/docs/');
    const remove = (code: string): ((path: string) => string) =>
      new Function(`${code.slice(0, code.indexOf('}e.i') + 1)};return n`)();
    expect(['/team/docs/a', '/team/docs', '/team/docs?q'].map(remove(made))).toEqual(['/a', '/', '/?q']);
    const back = remove(rewritten('a.js', made, '/team/docs/', '/'));
    expect(['/a', '/'].map(back)).toEqual(['/a', '/']);
  });

  it('requests the data of the start page under the base path', () => {
    const script = 'addPathPrefix;(e=new URL(e)).pathname.endsWith("/")?e.pathname+="index.txt":e.pathname+=".txt"';
    const pathnameOf = (code: string, path: string): string =>
      new Function('e', 'addPathPrefix', `${code};return e.pathname`)(`https://x.example${path}`);
    const made = rewritten('a.js', script, '/', '/team/docs/');
    expect(['/team/docs', '/team/docs/', '/team/docs/a'].map((path) => pathnameOf(made, path))).toEqual([
      '/team/docs/index.txt',
      '/team/docs/index.txt',
      '/team/docs/a.txt',
    ]);
    expect(rewritten('a.js', script, '/docs/', '/')).toBe(script);
  });

  const PAYLOAD = [
    ':HL["/_next/static/a.css","style"]',
    '2:"/_next/static/chunks/a.js"',
    '0:["$","a",null,{"className":"x","children":["/a"],"href":"/a"}]',
    '3:["$","$L9",null,{"href":"/a","index":"/search-index.json","src":"/images/a.png","url":"/a.html?"}]',
    '4:T1e,["$","a",null,{"href":"/é"}]',
    '5:["$","img",null,{"src":"/images/ü.png","alt":"/a \\" \\\\"}]',
    '',
  ].join('\n');
  const MOUNTED = PAYLOAD.replaceAll('"/_next', '"/team/docs/_next')
    .replace('"href":"/a"}]\n3', '"href":"/team/docs/a"}]\n3')
    .replaceAll('"/search', '"/team/docs/search')
    .replaceAll('"/images', '"/team/docs/images')
    .replace('"/a.html', '"/team/docs/a.html');

  it('rewrites addresses of elements and files in Next.js data, but not in component properties and text rows', () => {
    // The text row ends within the line, and another row follows in it.
    const payload = PAYLOAD.replace('4:T1e,', `4:T${Buffer.byteLength('["$","a",null,{"href":"/é"}]').toString(16)},`);
    const expected = MOUNTED.replace(
      '4:T1e,',
      `4:T${Buffer.byteLength('["$","a",null,{"href":"/é"}]').toString(16)},`,
    ).replace('\n5:', '5:');
    expectMounted('a.txt', payload.replace('\n5:', '5:'), expected);
  });

  it('does not change a code sample in the data of a page, even if the sample names a file of the site', () => {
    const row = JSON.stringify(`3:["$","code",null,{"children":["'/search-index.json'","\`/images/a.png\`"]}]\n`);
    const page = `<script>self.__next_f.push([1,${row}])</script>`;
    expect(rewritten('a.html', page, '/', '/team/docs/')).toBe(page);
  });

  it('rewrites data that a page splits into two scripts, whatever the position of the split', () => {
    const rows = PAYLOAD.split('\n')
      .filter((row) => !row.startsWith('4:'))
      .join('\n');
    const expected = MOUNTED.split('\n')
      .filter((row) => !row.startsWith('4:'))
      .join('\n');
    for (const cut of [1, 40, 75, 120, 200]) {
      // The address is not split.
      const push = (text: string) =>
        `<script>self.__next_f.push([1,${JSON.stringify(text).replaceAll('&', '\\u0026')}])</script>`;
      const page = push(rows.slice(0, cut)) + push(rows.slice(cut));
      const parts = [...rewritten('a.html', page, '/', '/team/docs/').matchAll(/push\(\[1,("(?:[^"\\]|\\.)*")\]\)/g)];
      expect([cut, parts.map(([, json = '""']) => JSON.parse(json)).join('')]).toEqual([cut, expected]);
    }
  });
});

describe('mountFile() for VitePress at another base path', () => {
  it.each([
    [
      'site data',
      'window.__VP_SITE_DATA__=JSON.parse("{\\"base\\":\\"/\\",\\"logo\\":\\"/images/a.png\\",\\"x\\":{\\"base\\":\\"/guide/\\"}}")',
      '\\"base\\":\\"/team/docs/\\",\\"logo\\":\\"/images/a.png\\",\\"x\\":{\\"base\\":\\"/guide/\\"',
    ],
    [
      'chunk names',
      'n(t.slice(1).replace(/\\//g,`_`)||`index`);__VP_HASH_MAP__[t];t=`/assets/`+t',
      'n(t.slice(11).replace(/\\//g,`_`)||`index`);__VP_HASH_MAP__[t];t=`/team/docs/assets/`+t',
    ],
    ['preloaded files', 'var t=`modulepreload`,n=function(e){return`/`+e}', 'n=function(e){return`/team/docs/`+e}'],
    [
      'static HTML of a page',
      'export{i as __pageData};e(`<p><a href="/a">/a</a><img alt="" src="/images/a.png"></p>`)',
      '<a href="/team/docs/a">/a</a><img alt="" src="/team/docs/images/a.png">',
    ],
    ['page elements', 'export{i as __pageData};t(`a`,{class:`x`,href:`/a`})', 't(`a`,{class:`x`,href:`/team/docs/a`})'],
    [
      'page elements, but not theme settings',
      'export{i as __pageData};JSON.parse(`{"hero":{"src":"/images/a.png","link":"/a"}}`)',
      '{"hero":{"src":"/images/a.png","link":"/a"}}',
    ],
  ])('rewrites these parts of a script: %s', (_, script, expected) => {
    const made = rewritten('a.js', script, '/', '/team/docs/');
    expect(made).toContain(expected);
    expect(rewritten('a.js', made, '/team/docs/', '/')).toBe(script);
  });
});

describe('mountFile() for Docusaurus at another base path', () => {
  it.each([
    ['webpack', 'n.p="^/",n.x="/"'],
    ['settings', 'x={baseUrl:"^/",i18n:docusaurus}'],
    [
      'routes, but not chunk names',
      'docusaurus;[{path:"^/a",component:d("/a","e21"),exact:!0},{path:"*",component:d("*")}]',
    ],
    ['data', `docusaurus;JSON.parse('{"permalink":"^/a","slug":"/a","href":"^/a"}')`],
    ['no strings of the router code', 'docusaurus;x={path:"/",url:"/",params:{}}'],
  ])('rewrites these parts of a script: %s', (_, marked) => {
    expectMarked('a.js', marked);
  });
});

describe('mountFile() for Starlight at another base path', () => {
  it('rewrites the addresses of the search and of the language menu', () => {
    expectMarked('a.js', 'new t({baseUrl:`^/`,bundlePath:`^/`.replace(/x/,``)+`/pagefind/`})');
    expectMarked('a.html', '<starlight-lang-select><option value="^/de/">Deutsch<option value="/nowhere/">');
  });
});

describe('mountFile() for scripts of any generator at another base path', () => {
  it.each([
    ['strings that are the address of a file of the site', 'fetch("^/search-index.json?v=1");a(`^/images/a.png`)'],
    [
      'addresses that are loaded or opened, with their continuation',
      'fetch("^/api/"+x);location.href=`^/a/`+y;e.src="^/x.png";r.open("GET","^/z");a="/b";c.href="//host/d"',
    ],
    ['no strings without a file', 'get("/other.json");a("/a");b("^/images/a.png".length,"/images/")'],
    ['no strings that are compared', 'if(e.endsWith("/index.txt")||e==="/index.txt")'],
  ])('rewrites these parts of a script: %s', (_, marked) => {
    expectMarked('a.js', marked);
  });

  it('rewrites addresses in a script element of a page, but not in code that the page shows', () => {
    expectMarked('a.html', '<pre>fetch("/search-index.json")</pre><script>x("^/search-index.json")</script>');
  });
});
