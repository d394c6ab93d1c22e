import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import { found, rewritten } from './helpers.ts';

/**
 * One probe per kind of reference: the text, its references, and the text with `N&` before each address, which shows places and
 * notations.
 */
const PROBES: readonly (readonly [name: string, html: string, found: readonly string[], rewritten: string])[] = [
  ['a link', '<a href="/a?b=1&amp;c=2#d">x</a>', ['link /a?b=1&c=2#d'], '<a href="N&amp;">x</a>'],
  ['upper case', "<A HREF='a'>", ['link a'], "<A HREF='N&amp;'>"],
  ['no quotes', '<a href=a/b/>', ['link a/b/'], '<a href=N&amp;>'],
  ['white space inside', '<a href="\n a b\t">', ['link a b'], '<a href="\n N&amp;\t">'],
  ['white space around =', '<a\nhref = "a"\nid=x>', ['link a'], '<a\nhref = "N&amp;"\nid=x>'],
  ['odd entities', '<a href="a&#x2F;b&num;c&copy=1">', ['link a/b#c&copy=1'], '<a href="N&amp;">'],
  [
    'two attributes of one name, the first empty',
    '<a href="" href=b><img src srcset="a">',
    ['asset a'],
    '<a href="" href=b><img src srcset="N&amp;">',
  ],
  ['two attributes of one name', '<a href=a href=b>', ['link a'], '<a href=N&amp; href=b>'],
  ['an unclosed tag', '<a href=a>x<a href="b', ['link a'], '<a href=N&amp;>x<a href="b'],
  [
    'a ping',
    '<a href=a ping="https://t.test/p /q">',
    ['link a', 'hint https://t.test/p /q'],
    '<a href=N&amp; ping="N&amp;">',
  ],
  ['an image map', '<map><area href=a></map>', ['link a'], '<map><area href=N&amp;></map>'],
  ['an image', '<img src=a alt="<img src=b>">', ['asset a'], '<img src=N&amp; alt="<img src=b>">'],
  [
    'a srcset whose URLs contain commas',
    '<img srcset="a,b.png 1x,\n c.png?w=1,2 2x, d, e.png (x,y) 3x,">',
    ['asset a,b.png', 'asset c.png?w=1,2', 'asset d', 'asset e.png'],
    '<img srcset="N&amp; 1x,\n N&amp; 2x, N&amp;, N&amp; (x,y) 3x,">',
  ],
  [
    'a srcset with entities',
    '<source srcset="a?x&amp;y 1x, b&#32;2x">',
    ['asset a?x&y', 'asset b'],
    '<source srcset="N&amp; 1x, N&amp;&#32;2x">',
  ],
  [
    'a picture for later',
    '<img data-src="a.png" data-srcset="b.png 2x">',
    ['lazy a.png', 'lazy b.png'],
    '<img data-src="N&amp;" data-srcset="N&amp; 2x">',
  ],
  [
    'lazy loading attributes of libraries',
    '<div data-bg="a.png"><p data-background-image="url(&quot;b.png&quot;)"><img data-lazy-srcset="c.png 1x, d.png 2x" data-original=e.png data-image="teal"><iframe data-src=/f>',
    ['lazy a.png', 'asset b.png', 'lazy c.png', 'lazy d.png', 'lazy e.png', 'frame /f'],
    '<div data-bg="N&amp;"><p data-background-image="url(&quot;N&amp;&quot;)"><img data-lazy-srcset="N&amp; 1x, N&amp; 2x" data-original=N&amp; data-image="teal"><iframe data-src=N&amp;>',
  ],
  [
    'elements that scripts use',
    '<model-viewer src="a.glb" poster=b.webp></model-viewer><redoc spec-url="/c.yaml"></redoc><x-y src="name" title="d.png">',
    ['lazy a.glb', 'lazy b.webp', 'lazy /c.yaml'],
    '<model-viewer src="N&amp;" poster=N&amp;></model-viewer><redoc spec-url="N&amp;"></redoc><x-y src="name" title="d.png">',
  ],
  [
    'modules and import maps for older browsers',
    '<script type="importmap-shim">{"imports":{"a":"/a.js"}}</script><script type="module-shim">import "/b.js"</script><script type="systemjs-importmap">{"imports":{"c":"/c.js"}}</script>',
    ['module /a.js', 'module /b.js', 'module /c.js'],
    '<script type="importmap-shim">{"imports":{"a":"./N&"}}</script><script type="module-shim">import "./N&"</script><script type="systemjs-importmap">{"imports":{"c":"./N&"}}</script>',
  ],
  ['state for scripts', '<img data-src="{{ a.png }}">', [], '<img data-src="{{ a.png }}">'],
  [
    'a video',
    '<video src=a poster=b><track src=c></video>',
    ['asset a', 'asset b', 'asset c'],
    '<video src=N&amp; poster=N&amp;><track src=N&amp;></video>',
  ],
  [
    'sound',
    '<audio src=a><source src=b></audio>',
    ['asset a', 'asset b'],
    '<audio src=N&amp;><source src=N&amp;></audio>',
  ],
  [
    'objects',
    '<object data=a><param name=movie value=b><param name=c value=d></object><embed src=e>',
    ['frame a', 'asset b', 'frame e'],
    '<object data=N&amp;><param name=movie value=N&amp;><param name=c value=d></object><embed src=N&amp;>',
  ],
  [
    'a frame',
    '<iframe src=a><a href=b></iframe><frame src=c>',
    ['frame a', 'frame c'],
    '<iframe src=N&amp;><a href=b></iframe><frame src=N&amp;>',
  ],
  ['an image button', '<input type=image src=a>', ['asset a'], '<input type=image src=N&amp;>'],
  [
    'a form, left unchanged',
    '<form action=a><button formaction=b></form>',
    ['mounted a', 'mounted b'],
    '<form action=a><button formaction=b></form>',
  ],
  [
    'names, left unchanged',
    '<div itemscope itemtype="https://schema.org/X" itemid=a><q cite=b></q></div>',
    ['mounted b'],
    '<div itemscope itemtype="https://schema.org/X" itemid=a><q cite=b></q></div>',
  ],
  [
    'Open Graph, left unchanged',
    '<meta property="og:image" content="https://x.test/a.png">',
    ['mounted https://x.test/a.png'],
    '<meta property="og:image" content="https://x.test/a.png">',
  ],
  [
    'backgrounds',
    '<body background=a><table background=b><td background=c>',
    ['asset a', 'asset b', 'asset c'],
    '<body background=N&amp;><table background=N&amp;><td background=N&amp;>',
  ],
  [
    'a stylesheet',
    '<link rel="alternate StyleSheet" href=a>',
    ['style a'],
    '<link rel="alternate StyleSheet" href=N&amp;>',
  ],
  [
    'icons',
    '<link rel="shortcut icon" href=a><link rel=apple-touch-icon href=b><link rel=mask-icon href=c>',
    ['asset a', 'asset b', 'asset c'],
    '<link rel="shortcut icon" href=N&amp;><link rel=apple-touch-icon href=N&amp;><link rel=mask-icon href=N&amp;>',
  ],
  [
    'preloads',
    '<link rel=preload as=style href=a><link rel=preload as=font href=b><link rel=modulepreload href=c><link rel=prefetch href=d>',
    ['style a', 'asset b', 'script c', 'asset d'],
    '<link rel=preload as=style href=N&amp;><link rel=preload as=font href=N&amp;><link rel=modulepreload href=N&amp;><link rel=prefetch href=N&amp;>',
  ],
  [
    'an imagesrcset',
    '<link rel=preload as=image imagesrcset="a 1x, b 2x">',
    ['asset a', 'asset b'],
    '<link rel=preload as=image imagesrcset="N&amp; 1x, N&amp; 2x">',
  ],
  ['a manifest', '<link rel=manifest href=a>', ['manifest a'], '<link rel=manifest href=N&amp;>'],
  [
    'a canonical',
    '<link rel=canonical href=https://x.test/a>',
    ['canonical https://x.test/a'],
    '<link rel=canonical href=N&amp;>',
  ],
  [
    'hints',
    '<link rel="dns-prefetch preconnect" href=//a.test>',
    ['hint //a.test'],
    '<link rel="dns-prefetch preconnect" href=N&amp;>',
  ],
  [
    'other link relations',
    '<link rel=next href=a><link rel=alternate hreflang=ja href=b>',
    ['link a', 'link b'],
    '<link rel=next href=N&amp;><link rel=alternate hreflang=ja href=N&amp;>',
  ],
  [
    'a digest',
    '<script integrity="sha384-x+/=" src=a></script>',
    ['script a', 'integrity a'],
    '<script integrity="N&amp;" src=N&amp;></script>',
  ],
  [
    'scripts',
    '<script src=a></script><script type=module src=b></script><script type=text/partytown src=./c></script>',
    ['script a', 'script b', 'lazy ./c'],
    '<script src=N&amp;></script><script type=module src=N&amp;></script><script type=text/partytown src=N&amp;></script>',
  ],
  [
    'an inline module',
    '<script type=module>import a from "./a.js"; "</scripts>"; import("b")</script>',
    ['module ./a.js', 'module b'],
    '<script type=module>import a from "./N&"; "</scripts>"; import("./N&")</script>',
  ],
  [
    'a script that is data',
    '<script type="application/ld+json">{"url":"/a"}</script>',
    [],
    '<script type="application/ld+json">{"url":"/a"}</script>',
  ],
  [
    'an import map',
    '<script type=importmap>{"imports":{"a":"./a.js","b/":"/b/","/c.js":"https:\\/\\/x.test\\/c.js"},"scopes":{"/d/":{"a":"/e.js","b":"bare"}},"integrity":{"/a.js":"sha256-x"}}</script>',
    [
      'module ./a.js',
      'prefix /b/',
      'module /c.js',
      'module https://x.test/c.js',
      'prefix /d/',
      'module /e.js',
      'module /a.js',
      'integrity /a.js',
    ],
    '<script type=importmap>{"imports":{"a":"./N&","b/":"./N&","./N&":"./N&"},"scopes":{"./N&":{"a":"./N&","b":"bare"}},"integrity":{"./N&":"N&"}}</script>',
  ],
  [
    'speculation rules',
    '<script type=speculationrules>{"prerender":[{"urls":["/a","/b"]},{"where":{"href_matches":"/*"}}]}</script>',
    ['link /a', 'link /b', 'pattern /*'],
    '<script type=speculationrules>{"prerender":[{"urls":["N&","N&"]},{"where":{"href_matches":"N&"}}]}</script>',
  ],
  [
    'a refresh',
    '<meta http-equiv=Refresh content="0; URL=\'a?b&amp;c\'">',
    ['link a?b&c'],
    '<meta http-equiv=Refresh content="0; URL=\'N&amp;\'">',
  ],
  [
    'a refresh without url=',
    '<meta http-equiv=refresh content="5;a">',
    ['link a'],
    '<meta http-equiv=refresh content="5;N&amp;">',
  ],
  [
    'a refresh to the page itself',
    '<meta http-equiv=refresh content="5">',
    [],
    '<meta http-equiv=refresh content="5">',
  ],
  [
    'a base',
    '<base target=_top><base href=/b/><base href=/c/>',
    ['base /b/'],
    '<base target=_top><base href=N&amp;><base href=/c/>',
  ],
  [
    'an invalid base',
    '<base href="javascript:x"><base href=/b/><img src=a>',
    ['asset a'],
    '<base href="javascript:x"><base href=/b/><img src=N&amp;>',
  ],
  [
    'tiles',
    '<meta name="msapplication-TileImage" content="/a.png"><meta name=msapplication-config content=b.xml><meta name=msapplication-TileColor content=#fff.f>',
    ['asset /a.png', 'asset b.xml'],
    '<meta name="msapplication-TileImage" content="N&amp;"><meta name=msapplication-config content=N&amp;><meta name=msapplication-TileColor content=#fff.f>',
  ],
  [
    'objects that are files',
    '<object data=a.svg></object><object data=b type="image/png"></object><embed src=c.pdf?d><embed src=e.html><object data=f.svg type="text/html">',
    ['asset a.svg', 'asset b', 'asset c.pdf?d', 'frame e.html', 'frame f.svg'],
    '<object data=N&amp;></object><object data=N&amp; type="image/png"></object><embed src=N&amp;><embed src=N&amp;><object data=N&amp; type="text/html">',
  ],
  [
    'an inline style',
    '<p style="background:url(&quot;a.png?b&amp;c&quot;)">',
    ['asset a.png?b&c'],
    '<p style="background:url(&quot;N&amp;&quot;)">',
  ],
  [
    'an inline style with bare entities',
    '<p style="background:url(&#39a.png&#39)">',
    ['asset a.png'],
    '<p style="background:url(&#39N&amp;&#39)">',
  ],
  [
    'a style sheet inside',
    '<style>@import "a";/*url(b)*/p{background:url(c)}</style>',
    ['style a', 'asset c'],
    '<style>@import "N&";/*url(b)*/p{background:url(N&)}</style>',
  ],
  [
    'a document inside',
    '<iframe srcdoc="<a href=&quot;a?b&amp;amp;c&quot;><p style=\'background:url(b)\'><img src=c>"></iframe>',
    ['link a?b&c', 'asset b', 'asset c'],
    '<iframe srcdoc="<a href=&quot;N&amp;amp;&quot;><p style=\'background:url(N&amp;amp;)\'><img src=N&amp;amp;>"></iframe>',
  ],
  [
    'content without scripts',
    '<noscript><img src=a><style>p{background:url(b)}</noscript><img src=c>',
    ['asset a', 'asset b', 'asset c'],
    '<noscript><img src=N&amp;><style>p{background:url(N&)}</noscript><img src=N&amp;>',
  ],
  ['a template', '<template><img src=a></template>', ['asset a'], '<template><img src=N&amp;></template>'],
  [
    'comments, left unchanged',
    '<!-- <a href=a> [if IE]> --><!--><!-- [if IE]><img src=b> --><a href=c>',
    ['link c'],
    '<!-- <a href=a> [if IE]> --><!--><!-- [if IE]><img src=b> --><a href=N&amp;>',
  ],
  [
    'conditional comments',
    '<!--[if lt IE 9]><link rel=stylesheet href=a><title>x</title><![endif]--><!--[if !IE]>--><img src=b><!--<![endif]--><![if !IE]><img src=c><![endif]><!--[if IE --><img src=d>',
    ['style a', 'asset b', 'asset c', 'asset d'],
    '<!--[if lt IE 9]><link rel=stylesheet href=N&amp;><title>x</title><![endif]--><!--[if !IE]>--><img src=N&amp;><!--<![endif]--><![if !IE]><img src=N&amp;><![endif]><!--[if IE --><img src=N&amp;>',
  ],
  [
    'text, left unchanged',
    '<title><a href=a></title><textarea><a href=b></textarea><xmp><a href=c></xmp>',
    [],
    '<title><a href=a></title><textarea><a href=b></textarea><xmp><a href=c></xmp>',
  ],
  [
    'SVG',
    '<svg><use href="a#b"/><image xlink:href=c /><feImage href=d /><a xlink:href=e></a><path fill="url(f#g)" mask="url(#h)"/><use href="#i"/></svg>',
    ['asset a#b', 'asset c', 'asset d', 'link e', 'asset f#g'],
    '<svg><use href="N&amp;"/><image xlink:href=N&amp; /><feImage href=N&amp; /><a xlink:href=N&amp;></a><path fill="url(N&amp;)" mask="url(#h)"/><use href="#i"/></svg>',
  ],
  [
    'styles in SVG',
    '<svg><style>p{background:url(a&amp;b)}</style><style><![CDATA[p{background:url(c&d)}]]></style></svg>',
    ['asset a&b', 'asset c&d'],
    '<svg><style>p{background:url(N&amp;)}</style><style><![CDATA[p{background:url(N&)}]]></style></svg>',
  ],
  [
    'Astro',
    '<astro-island component-url="/a.js" renderer-url="/b.js">',
    ['module /a.js', 'module /b.js'],
    '<astro-island component-url="./N&amp;" renderer-url="./N&amp;">',
  ],
  [
    'addresses that are not files',
    '<a href="mailto:a@b.test"><a href="JavaScript:x()"><img src="data:,x"><a href=""><a href="  ">',
    [],
    '<a href="mailto:a@b.test"><a href="JavaScript:x()"><img src="data:,x"><a href=""><a href="  ">',
  ],
  ['a place in the page', '<a href=#a>', ['link #a'], '<a href=N&amp;>'],
];

describe('findReferences() and rewriteFile() in HTML', () => {
  it.each(PROBES)('return the expected references and text for %s', (_, html, references, after) => {
    expect(found('html', html)).toEqual(references);
    expect(rewritten('html', html, 'N&')).toBe(after);
  });

  it('write no characters that would end an attribute, a string or a list', () => {
    const html = `<a href='a'><img srcset="a 1x"><p style='background:url("a")'><script>import('a')</script>`;
    const hostile = `é "'<>(),\\\`\n{}`;
    const encoded = '%C3%A9%20%22%27%3C%3E';
    expect(rewritten('html', html, hostile)).toBe(
      `<a href='${encoded}(),%5C%60%0A%7B%7D'><img srcset="${encoded}()%2C%5C%60%0A%7B%7D 1x">` +
        `<p style='background:url("${encoded}%28%29,%5C%60%0A%7B%7D")'><script>import('./${encoded}(),%5C%60%0A%7B%7D')</script>`,
    );
  });

  it('can replace an address with an empty address, whether or not the attribute has quotes', () => {
    expect(rewritten('html', '<base href=/a/><base href="/b/">', '')).toBe('<base href=""><base href="/b/">');
    expect(rewritten('html', '<iframe srcdoc="<a href=a id=b>">', '')).toBe(
      '<iframe srcdoc="<a href=&quot;&quot; id=b>">',
    );
  });

  it('return the robots directives, the base URL and the import maps of the page', () => {
    const html = `<META NAME=ROBOTS CONTENT=none><base href=" /b/ "><base href="/no/"><meta name=description content=nofollow>
      <!-- <meta name=robots content=no> --><meta content="index, NOFOLLOW" name=" docshelf "><script type=importmap>{"imports":{}}</script>
      <iframe srcdoc='<base href="/inner/"><meta name=robots content=inner>'></iframe>`;
    const { base, importMaps, robots } = findReferences({
      type: 'html',
      bytes: Buffer.from(html),
    });
    expect({ base, importMaps, robots }).toEqual({
      base: '/b/',
      importMaps: ['{"imports":{}}'],
      robots: ['none', 'index, NOFOLLOW'],
    });
  });
});

describe('findReferences() and rewriteFile() in SVG and XHTML', () => {
  const svg = `<?xml version="1.0"?><?xml-stylesheet type="text/css" href="a.css?b&amp;c"?>
<!DOCTYPE svg PUBLIC "x" "y" [ <!ENTITY z "<a href='no'>"> ]>
<svg:svg xmlns:svg="http://www.w3.org/2000/svg"><!-- <a href="no"/> -->
<svg:style><![CDATA[ @import "d.css"; ]]> p { fill: url(e.svg#f) }</svg:style><script href="g.js"/>
<script type="module"><![CDATA[import "./h.js"; 1 < 2]]></script><svg:image href="i.png"/><title><a href="j"/></title></svg:svg>`;

  it('find the references that XML can have', () => {
    expect(found('xml', svg)).toEqual([
      'style a.css?b&c',
      'style d.css',
      'asset e.svg#f',
      'script g.js',
      'module ./h.js',
      'asset i.png',
      'link j',
    ]);
  });

  it('replace only the addresses and keep all other text of the file', () => {
    expect(rewritten('xml', svg, 'N')).toBe(
      svg
        .replace('a.css?b&amp;c', 'N')
        .replace('d.css', 'N')
        .replace('e.svg#f', 'N')
        .replace('g.js', 'N')
        .replace('./h.js', './N')
        .replace('i.png', 'N')
        .replace('href="j"', 'href="N"'),
    );
  });
});
