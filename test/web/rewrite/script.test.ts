import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import { found, probeOf, rewritten } from './helpers.ts';

const PROBES: readonly (readonly [name: string, marked: string])[] = [
  [
    'imports and exports',
    `import a from"«module ./a.js»";import '«module ./b.js»';export*from '«module ../c.js»';export{d}from"«module /d.js»";import e from '«module bare»';`,
  ],
  ['imports with attributes', "import a from '«module ./a.json»' with { type: 'json' };"],
  [
    'dynamic imports',
    `import("«module ./a.js»");import(/* x */ \`«module ./b.js»\` );import("./" + c);import(\`./\${d}.js\`)`,
  ],
  ['specifiers with escapes', "import a from '«module ./a.js¦./\\u0061\\x2ejs»'"],
  [
    'files next to a module',
    `new URL('«asset ./a.wasm»', import.meta.url);new URL( /* x */ "«asset b.png¦b\\u002epng»" ,\n import . meta . url)`,
  ],
  [
    'files that are put together',
    `new URL("a" + b, import.meta.url);new URL(\`\${c}\`, import.meta.url);f("d", import.meta.url)`,
  ],
  ['import.meta.resolve()', "import.meta.resolve('«module ./a.js»')"],
  ['workers by a module', "new Worker(new URL('«script ./a.js»', import.meta.url), {type: 'module'})"],
  [
    'workers by an address',
    `new Worker("«worker /a.js»");new SharedWorker('«worker b.js»', {name: 'c.js'});new Worker(d)`,
  ],
  [
    'worklets and service workers',
    `await x.audioWorklet.addModule('«worker a.js»');navigator.serviceWorker.register("«worker /sw.js»", {})`,
  ],
  [
    'the scope of a service worker',
    `navigator.serviceWorker.register('«worker /sw.js»',{scope:'«scope /»'});navigator.serviceWorker.getRegistration("«scope /a/»")`,
  ],
  [
    'the scope of a service worker that a library registers, in any notation',
    `new Workbox(url,{type:'classic',"scope" : "«scope /a/»"+x});const scope = \`«scope /b/»\`;f({scope='«scope /c/»'}={});o.scope="«scope /d/¦\\/d/»";`,
  ],
  [
    'no scope in strings, comments and comparisons, or without a service worker',
    `"serviceWorker {scope:'/'}";// {scope:'/a'}\n/* scope:'/b' */a.scope=="/c";d?scope:'/d';microscope='/e';/scope:'/`,
  ],
  [
    'patterns of speculation rules',
    `s.textContent=JSON.stringify({prefetch:[{where:{or:[{href_matches:"«pattern /*»"},{href_matches:['«pattern /a/*»', "«pattern /b»"]}]}}]})`,
  ],
  ['the scope of something else', "x({scope:'/'})"],
  ['importScripts()', `importScripts('«script a.js»', "«script /b.js»",c);self.importScripts("«script d.js»")`],
  [
    'strings, comments, templates and regular expressions, left unchanged',
    `"import('a')";'new Worker("b")';// importScripts('c')\n/* import 'd' */\`new Worker('e') \${import('«module f»')}\`;/new Worker('g')/;x.import('h')`,
  ],
  ['a script that does not parse', `import a from './a.js'; "`],
];

describe('findReferences() and rewriteFile() in JavaScript', () => {
  it.each(PROBES)('find and replace the references, and leave other text unchanged: %s', (_, marked) => {
    const { text, references, after } = probeOf(marked);
    expect(found('script', text)).toEqual(references);
    expect(rewritten('script', text, 'N')).toBe(after);
  });

  it.each([
    ['https://x.test/a.js', 'https://x.test/a.js'],
    ['/a.js', '/a.js'],
    ['../a.js', '../a.js'],
    ['a.js', './a.js'],
  ])('write the module specifier %s as %s, which is never a bare specifier', (url, written) => {
    expect(rewritten('script', 'import "x"', url)).toBe(`import "${written}"`);
  });
});

describe('findReferences() in output of frameworks', () => {
  const mentions = (type: 'html' | 'script', text: string, path?: string): string[] => {
    const file = { type, bytes: Buffer.from(text), ...(path === undefined ? {} : { path }) };
    return findReferences(file)
      .references.filter(({ kind }) => kind === 'mention')
      .map(({ url }) => url);
  };

  it('returns the chunks of Next.js page data in the base path of the page', () => {
    const html = `<script src="/docs/_next/static/chunks/main.js"></script><script>self.__next_f.push([1,"3:I[1,[\\"2\\",\\"static/chunks/app/%5Bid%5D/page-1a.js\\"],\\"\\"]\\n:HL[\\"/docs/_next/static/css/b.css\\",\\"style\\"]"])</script>`;
    expect(mentions('html', html)).toEqual([
      '/docs/_next/static/css/b.css',
      '/docs/_next/static/chunks/app/%5Bid%5D/page-1a.js',
    ]);
    expect(rewritten('html', html, 'N')).toBe(html.replace('/docs/_next/static/chunks/main.js', 'N'));
  });

  it('returns the chunks of the Next.js build manifest, relative to that file', () => {
    expect(mentions('script', 'self.__BUILD_MANIFEST={"/a":["static/chunks/pages/[a]-1.js"]}')).toEqual([
      '../../static/chunks/pages/[a]-1.js',
    ]);
  });

  it('returns the files that Vite loads with a module, in the base path of the build', () => {
    const script = `const __vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["assets/a.js","assets/b.css"])))=>i.map(i=>d[i]);`;
    expect(mentions('script', script, '/docs/assets/chunks/app.js')).toEqual([
      '/docs/assets/a.js',
      '/docs/assets/b.css',
    ]);
    expect(mentions('script', script)).toEqual(['/assets/a.js', '/assets/b.css']);
  });

  it('returns the full page chunk of VitePress if the page names only the lean chunk', () => {
    expect(mentions('html', '<link rel=modulepreload href=/assets/a.md.X1.lean.js>')).toEqual(['/assets/a.md.X1.js']);
  });

  it('returns strings that are completely a root-relative address, in escaped or plain quotes', () => {
    const script = String.raw`push("{\"index\":\"/search.json\"}"),f('/img/a-1.svg?v=2',"/guide","//x.test/b.json","see /c.json",'/d.json"')`;
    expect(mentions('script', script)).toEqual(['/search.json', '/img/a-1.svg?v=2', '/d.json']);
    expect(rewritten('script', script, 'N')).toBe(script);
  });

  it('returns the files that Gatsby routes load', () => {
    const html = String.raw`<script>window.___chunkMapping="{\"app\":[\"/app-1.js\"],\"b\":[\"c\"]}"</script>`;
    expect(mentions('html', html)).toEqual(['/app-1.js']);
  });
});
