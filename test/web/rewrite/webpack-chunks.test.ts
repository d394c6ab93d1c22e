import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import { webpackChunks } from '../../../src/web/rewrite/generators/webpack.ts';

function mentions(text: string, path = '/docs/js/runtime.js'): string[] {
  const found = findReferences({ type: 'script', bytes: Buffer.from(text), path });
  return found.references.filter(({ kind }) => kind === 'mention').map(({ url }) => url);
}

/** Forms that webpack and Rspack write, minified or not. */
const SHAPES: readonly (readonly [name: string, script: string, names: readonly string[]])[] = [
  [
    'names and digests in maps',
    'n.u=e=>"js/"+({7:"page",106:"main"}[e]||e)+"."+{7:"aa",8:"bb",106:"cc"}[e]+".js",n.miniCssF=e=>""+e+".css"',
    ['js/page.aa.js', 'js/main.cc.js', 'js/8.bb.js'],
  ],
  ['a map in parentheses', 'n.u=e=>"js/"+(({7:"page"})[e]||e)+"."+({7:"aa"})[e]+".js"', ['js/page.aa.js']],
  [
    'chunks with their own name',
    'n.u=e=>7===e?"js/a.js":"b"===e?"js/b.js":"js/"+(9===e?"nine":e)+"."+{9:"cc",b:"no"}[e]+".js"',
    ['js/a.js', 'js/nine.cc.js', 'js/b.js'],
  ],
  ['numbers in the notation of minifiers', `n.u=e=>e+"."+{1e3:"aa",'x-1':"bb"}[e]+".js"`, ['1000.aa.js', 'x-1.bb.js']],
  [
    'style sheets',
    'n.miniCssF=e=>({7:"css/a.css"}[e]),n.k=function(e){return"css/"+e+"."+{8:"bb"}[e]+".css"}',
    ['css/a.css', 'css/8.bb.css'],
  ],
  [
    'a function, not minified',
    'o.u = function (chunkId) {\n  return "js/" + chunkId + "." + { "7": "aa" }[chunkId] + ".js";\n};',
    ['js/7.aa.js'],
  ],
  [
    'webpack 4',
    'function j(e){return o.p+"static/js/"+({}[e]||e)+"."+{0:"aa",12:"bb"}[e]+".chunk.js"}',
    ['static/js/0.aa.chunk.js', 'static/js/12.bb.chunk.js'],
  ],
];

/** Other uses of the same names in scripts, and expressions that cannot be evaluated. */
const OTHERS = [
  'n.u=e=>""+e+".js"',
  'n.u=e=>f(e)+{7:"a"}[e]+".js"',
  'n.u=e=>"js/"+{7:"a"}[other]+".js"',
  'n.u=e=>"js/"+{7:"a',
  'n.k=e=>({7:"some text",8:"b.txt"}[e])',
  `n.u=e=>${'('.repeat(10_000)}`,
  `n.u=e=>{7:"a"}[e]+${'e+'.repeat(100_000)}".js"`,
  `n.u=e=>${'7===e?"a.js":'.repeat(100_000)}"b.js"`,
  String.raw`n.u=e=>"js\x2f"+{7:"a"}[e]+".js"`,
];

describe('webpackChunks()', () => {
  it.each(SHAPES)('computes the chunk names of %s', (_, script, names) => {
    expect([...webpackChunks(script).names].sort()).toEqual([...names].sort());
  });

  it.each(OTHERS)('finds no chunks in the script %.40s', (script) => {
    expect(webpackChunks(script).names).toEqual([]);
  });
});

describe('findReferences() in the webpack runtime', () => {
  const functions = 'n.u=e=>"js/"+{7:"a"}[e]+".js";';

  it.each([
    ['that is a constant', 'n.p="/fr/"', '/fr/js/a.js'],
    ['on another host', 'n.p = "https://cdn.test/x/"', 'https://cdn.test/x/js/a.js'],
    ['in the parent folder of the script', 'n.p=e+"../"', '../js/a.js'],
    ['in the folder of the script', 'n.p=e', './js/a.js'],
    ['that is empty, in the folder that the site was built for', 'n.p=""', '/docs/js/a.js'],
  ])('returns chunks with a public path %s', (_, path, url) => {
    expect(mentions(functions + path)).toEqual([url]);
  });
});
