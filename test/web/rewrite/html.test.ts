import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import { found, probeOf, rewritten } from './helpers.ts';

/** One probe per kind of reference. The replacement `N&` shows places and notations. */
const PROBES: readonly (readonly [name: string, marked: string])[] = [
  ['a link', '<a href="«link /a?b=1&c=2#d¦/a?b=1&amp;c=2#d»">x</a>'],
  ['upper case', "<A HREF='«link a»'>"],
  ['no quotes', '<a href=«link a/b/»>'],
  ['white space inside', '<a href="\n «link a b»\t">'],
  ['white space around =', '<a\nhref = "«link a»"\nid=x>'],
  ['odd entities', '<a href="«link a/b#c&copy=1¦a&#x2F;b&num;c&copy=1»">'],
  ['two attributes of one name, the first empty', '<a href="" href=b><img src srcset="«asset a»">'],
  ['two attributes of one name', '<a href=«link a» href=b>'],
  ['an unclosed tag', '<a href=«link a»>x<a href="b'],
  ['a ping', '<a href=«link a» ping="«hint https://t.test/p /q»">'],
  ['an image map', '<map><area href=«link a»></map>'],
  ['an image', '<img src=«asset a» alt="<img src=b>">'],
  [
    'a srcset whose URLs contain commas',
    '<img srcset="«asset a,b.png» 1x,\n «asset c.png?w=1,2» 2x, «asset d», «asset e.png» (x,y) 3x,">',
  ],
  ['a srcset with entities', '<source srcset="«asset a?x&y¦a?x&amp;y» 1x, «asset b»&#32;2x">'],
  ['a picture for later', '<img data-src="«lazy a.png»" data-srcset="«lazy b.png» 2x">'],
  [
    'lazy loading attributes of libraries',
    '<div data-bg="«lazy a.png»"><p data-background-image="url(&quot;«asset b.png»&quot;)"><img data-lazy-srcset="«lazy c.png» 1x, «lazy d.png» 2x" data-original=«lazy e.png» data-image="teal"><iframe data-src=«frame /f»>',
  ],
  [
    'elements that scripts use',
    '<model-viewer src="«lazy a.glb»" poster=«lazy b.webp»></model-viewer><redoc spec-url="«lazy /c.yaml»"></redoc><x-y src="name" title="d.png">',
  ],
  [
    'modules and import maps for older browsers',
    '<script type="importmap-shim">{"imports":{"a":"‹module /a.js›"}}</script><script type="module-shim">import "‹module /b.js›"</script><script type="systemjs-importmap">{"imports":{"c":"‹module /c.js›"}}</script>',
  ],
  ['state for scripts', '<img data-src="{{ a.png }}">'],
  ['a video', '<video src=«asset a» poster=«asset b»><track src=«asset c»></video>'],
  ['sound', '<audio src=«asset a»><source src=«asset b»></audio>'],
  [
    'objects',
    '<object data=«frame a»><param name=movie value=«asset b»><param name=c value=d></object><embed src=«frame e»>',
  ],
  ['a frame', '<iframe src=«frame a»><a href=b></iframe><frame src=«frame c»>'],
  ['an image button', '<input type=image src=«asset a»>'],
  ['a form, left unchanged', '<form action=«mounted a»><button formaction=«mounted b»></form>'],
  ['names, left unchanged', '<div itemscope itemtype="https://schema.org/X" itemid=a><q cite=«mounted b»></q></div>'],
  ['Open Graph, left unchanged', '<meta property="og:image" content="«mounted https://x.test/a.png»">'],
  ['backgrounds', '<body background=«asset a»><table background=«asset b»><td background=«asset c»>'],
  ['a stylesheet', '<link rel="alternate StyleSheet" href=«style a»>'],
  [
    'icons',
    '<link rel="shortcut icon" href=«asset a»><link rel=apple-touch-icon href=«asset b»><link rel=mask-icon href=«asset c»>',
  ],
  [
    'preloads',
    '<link rel=preload as=style href=«style a»><link rel=preload as=font href=«asset b»><link rel=modulepreload href=«script c»><link rel=prefetch href=«asset d»>',
  ],
  ['an imagesrcset', '<link rel=preload as=image imagesrcset="«asset a» 1x, «asset b» 2x">'],
  ['a manifest', '<link rel=manifest href=«manifest a»>'],
  ['a canonical', '<link rel=canonical href=«canonical https://x.test/a»>'],
  ['hints', '<link rel="dns-prefetch preconnect" href=«hint //a.test»>'],
  ['other link relations', '<link rel=next href=«link a»><link rel=alternate hreflang=ja href=«link b»>'],
  [
    'scripts',
    '<script src=«script a»></script><script type=module src=«script b»></script><script type=text/partytown src=«lazy ./c»></script>',
  ],
  [
    'an inline module',
    '<script type=module>import a from "‹module ./a.js›"; "</scripts>"; import("‹module b›")</script>',
  ],
  ['a script that is data', '<script type="application/ld+json">{"url":"/a"}</script>'],
  [
    'an import map',
    '<script type=importmap>{"imports":{"a":"‹module ./a.js›","b/":"‹prefix /b/›","‹module /c.js›":"‹module https://x.test/c.js¦https:\\/\\/x.test\\/c.js›"},"scopes":{"‹prefix /d/›":{"a":"‹module /e.js›","b":"bare"}},"integrity":{"‹module /a.js›":"‹integrity /a.js¦sha256-x›"}}</script>',
  ],
  [
    'speculation rules',
    '<script type=speculationrules>{"prerender":[{"urls":["‹link /a›","‹link /b›"]},{"where":{"href_matches":"‹pattern /*›"}}]}</script>',
  ],
  ['a refresh', `<meta http-equiv=Refresh content="0; URL='«link a?b&c¦a?b&amp;c»'">`],
  ['a refresh without url=', '<meta http-equiv=refresh content="5;«link a»">'],
  ['a refresh to the page itself', '<meta http-equiv=refresh content="5">'],
  ['a base', '<base target=_top><base href=«base /b/»><base href=/c/>'],
  ['an invalid base', '<base href="javascript:x"><base href=/b/><img src=«asset a»>'],
  [
    'tiles',
    '<meta name="msapplication-TileImage" content="«asset /a.png»"><meta name=msapplication-config content=«asset b.xml»><meta name=msapplication-TileColor content=#fff.f>',
  ],
  [
    'objects that are files',
    '<object data=«asset a.svg»></object><object data=«asset b» type="image/png"></object><embed src=«asset c.pdf?d»><embed src=«frame e.html»><object data=«frame f.svg» type="text/html">',
  ],
  ['an inline style', '<p style="background:url(&quot;«asset a.png?b&c¦a.png?b&amp;c»&quot;)">'],
  ['an inline style with bare entities', '<p style="background:url(&#39«asset a.png»&#39)">'],
  ['a style sheet inside', '<style>@import "‹style a›";/*url(b)*/p{background:url(‹asset c›)}</style>'],
  [
    'content without scripts',
    '<noscript><img src=«asset a»><style>p{background:url(‹asset b›)}</noscript><img src=«asset c»>',
  ],
  ['a template', '<template><img src=«asset a»></template>'],
  ['comments, left unchanged', '<!-- <a href=a> [if IE]> --><!--><!-- [if IE]><img src=b> --><a href=«link c»>'],
  [
    'conditional comments',
    '<!--[if lt IE 9]><link rel=stylesheet href=«style a»><title>x</title><![endif]--><!--[if !IE]>--><img src=«asset b»><!--<![endif]--><![if !IE]><img src=«asset c»><![endif]><!--[if IE --><img src=«asset d»>',
  ],
  ['text, left unchanged', '<title><a href=a></title><textarea><a href=b></textarea><xmp><a href=c></xmp>'],
  [
    'SVG',
    '<svg><use href="«asset a#b»"/><image xlink:href=«asset c» /><feImage href=«asset d» /><a xlink:href=«link e»></a><path fill="url(«asset f#g»)" mask="url(#h)"/><use href="#i"/></svg>',
  ],
  [
    'styles in SVG',
    '<svg><style>p{background:url(«asset a&b¦a&amp;b»)}</style><style><![CDATA[p{background:url(‹asset c&d›)}]]></style></svg>',
  ],
  ['Astro', '<astro-island component-url="«module /a.js»" renderer-url="«module /b.js»">'],
  [
    'addresses that are not files',
    '<a href="mailto:a@b.test"><a href="JavaScript:x()"><img src="data:,x"><a href=""><a href="  ">',
  ],
  ['a place in the page', '<a href=«link #a»>'],
];

describe('findReferences() and rewriteFile() in HTML', () => {
  it.each(PROBES)('find and replace the references, and leave other text unchanged: %s', (_, marked) => {
    const { text, references, after } = probeOf(marked, 'N&amp;', 'N&');
    expect(found('html', text)).toEqual(references);
    expect(rewritten('html', text, 'N&')).toBe(after);
  });

  it('find and replace the integrity digest of a script', () => {
    const html = '<script integrity="sha384-x+/=" src=a></script>';
    expect(found('html', html)).toEqual(['script a', 'integrity a']);
    expect(rewritten('html', html, 'N&')).toBe('<script integrity="N&amp;" src=N&amp;></script>');
  });

  it('find and replace the references in a srcdoc document', () => {
    const inside = (link: string, picture: string) =>
      `<iframe srcdoc="<a href=&quot;${link}&quot;><p style='background:url(${picture})'><img src=${picture}>"></iframe>`;
    const html = inside('a?b&amp;amp;c', 'b');
    expect(found('html', html)).toEqual(['link a?b&c', 'asset b', 'asset b']);
    expect(rewritten('html', html, 'N&')).toBe(inside('N&amp;amp;', 'N&amp;amp;'));
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
