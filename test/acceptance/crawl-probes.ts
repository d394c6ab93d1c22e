import { gzipSync } from 'node:zlib';
import type { OriginFile } from '../crawl/origin.ts';
import { at, cssUrl, found, foundIn, known, listed, mapped, type Probe, type Step, within } from './crawl-probe.ts';

/** Probes of a crawl, grouped by the kind of file or address with the reference: name, page, marked file, steps, and more. */

const img = at('img', 'src');
const link = at('link', 'href');
const a = at('a', 'href');
const script = at('script', 'src');
const URL_IN_CSS = /url\(\s*["']?([^"')]+)/i;
const STRING = /["'`]([^"'`]+)["'`]/;
const HTML = { type: 'text/html' } as const;
const JS = { type: 'text/javascript' } as const;

const probe = (
  name: string,
  page: OriginFile,
  marked: string | null,
  steps: Step | readonly Step[],
  more: Partial<Probe> = {},
): Probe => ({ name, page, marked, steps: [steps].flat(), ...more });

/** References in HTML. */
// biome-ignore format: one probe a line
const MARKUP_PROBES: readonly Probe[] = [
  probe('img src', '<img src="{d}/a.png">', 'a.png', img),
  probe('img src of another origin', '<img src="{c}/a.png">', 'c:a.png', img),
  probe('img src without quotes', '<IMG SRC={d}/a.png>', 'a.png', img),
  probe('img src in image', '<image src="{d}/a.png">', 'a.png', img),
  probe('srcset with commas in addresses', '<img srcset="{d}/w_1,h_1/a.png 1x, {d}/w_2,h_2/a.png 2x">', 'w_2,h_2/a.png', listed('img', 'srcset', 1), { files: { 'w_1,h_1/a.png': 'other' } }),
  probe('srcset after data', '<img srcset="data:image/gif;base64,R0lGODlhAQABAAAAACw= 1x, {c}/a.png 2x">', 'c:a.png', listed('img', 'srcset', 1)),
  probe('srcset without spaces', '<img srcset="{d}/b.png,{d}/a.png 2x">', 'b.png,/f/srcset-without-spaces/a.png', listed('img', 'srcset', 0)),
  probe('picture source', '<picture><source media="(min-width:1px)" srcset="{d}/a.webp"><img src="{d}/b.png"></picture>', 'a.webp', listed('source', 'srcset', 0), { files: { 'b.png': 'other' } }),
  probe('imagesrcset', '<link rel="preload" as="image" imagesrcset="{d}/b.png 1x, {d}/a.png 2x">', 'a.png', listed('link', 'imagesrcset', 1), { files: { 'b.png': 'other' } }),
  probe('video poster', '<video poster="{d}/a.jpg"></video>', 'a.jpg', at('video', 'poster')),
  probe('video source and fragment', '<video><source src="{c}/a.mp4#t=10,20" type="video/mp4"></video>', 'c:a.mp4', at('source', 'src')),
  probe('audio', '<audio controls src="{d}/a.mp3"></audio>', 'a.mp3', at('audio', 'src')),
  probe('track', '<video><track kind=captions src="{d}/a.vtt"></video>', 'a.vtt', at('track', 'src')),
  probe('object data', '<object data="{d}/a.svg"></object>', 'a.svg', at('object', 'data')),
  probe('object data pdf', '<object data="{d}/a.pdf" type="application/pdf"></object>', 'a.pdf', at('object', 'data')),
  probe('param', '<object><param name="movie" value="{d}/a.swf"></object>', 'a.swf', at('param', 'value')),
  probe('embed', '<embed src="{c}/a.svg">', 'c:a.svg', at('embed', 'src')),
  probe('input image', '<form><input type="image" src="{d}/a.png"></form>', 'a.png', at('input', 'src')),
  probe('body background', '<body background="{d}/a.png"><p>x</p></body>', 'a.png', at('body', 'background')),
  probe('td background', '<table><tr><td background="{d}/a.png">x</td></tr></table>', 'a.png', at('td', 'background')),
  probe('style attribute with entities', '<div style="background:url(&quot;{d}/a.png&quot;)">x</div>', 'a.png', foundIn('div', 'style', URL_IN_CSS)),
  probe('style attribute with apostrophes', `<div style='background:url(&apos;{d}/a.png&#39;)'>x</div>`, 'a.png', foundIn('div', 'style', URL_IN_CSS)),
  probe('style element', '<style>p{background:url({d}/a.png)}</style>', 'a.png', found(URL_IN_CSS)),
  probe('style element for print', '<style media="print">@import "{d}/a.css";</style>', 'a.css', found(/@import "([^"]+)/)),
  probe('style sheet for print', '<link rel="stylesheet" media="print and (min-width: 1px)" href="{d}/a.css">', 'a.css', link),
  probe('style sheet to choose', '<link rel="alternate stylesheet" title=dark disabled href="{d}/a.css">', 'a.css', link),
  probe('noscript image', '<noscript><img src="{c}/a.png"></noscript>', 'c:a.png', img),
  probe('noscript style sheet', '<head><noscript><link rel=stylesheet href="{d}/a.css"></noscript></head>', 'a.css', link),
  probe('data src', '<img class=lazy data-src="{d}/a.png">', 'a.png', at('img', 'data-src')),
  probe('data srcset', '<img data-srcset="{d}/b.png 1x, {d}/a.png 2x">', 'a.png', listed('img', 'data-srcset', 1), { files: { 'b.png': 'x' } }),
  probe('data src of a frame', '<iframe data-src="{d}/a.html"></iframe>', 'a.html', at('iframe', 'data-src')),
  probe('data lazy src', '<img data-lazy-src="{d}/a.png">', 'a.png', at('img', 'data-lazy-src')),
  probe('data original', '<img data-original="{d}/a.png">', 'a.png', at('img', 'data-original')),
  probe('data background', '<div class=lazy data-bg="{d}/a.png">x</div>', 'a.png', at('div', 'data-bg')),
  probe('data background image', '<section data-background-image="{d}/a.png">x</section>', 'a.png', at('section', 'data-background-image')),
  probe('template', '<template><img src="{d}/a.png"></template>', 'a.png', img),
  probe('declarative shadow root', '<div><template shadowrootmode=open><link rel=stylesheet href="{d}/a.css"></template></div>', 'a.css', link),
  probe('conditional comment that shows', '<![if !IE]><img src="{d}/a.png"><![endif]>', 'a.png', img),
  probe('conditional comment', '<!--[if IE]><link rel="stylesheet" href="{d}/a.css"><![endif]-->', 'a.css', found(/href="([^"]+)/)),
  probe('a download', '<a download="x.zip" href="{d}/a.zip">x</a>', 'a.zip', a),
  probe('a pdf', '<a href="{d}/a.pdf#page=3" target=_blank rel=noopener>x</a>', 'a.pdf', a),
  probe('area', '<map name=m><area href="{d}/a.html" shape=default></map><img usemap="#m">', 'a.html', at('area', 'href')),
  probe('longdesc', '<img src="data:," longdesc="{d}/a.html">', 'a.html', at('img', 'longdesc')),
  probe('alternate language', '<link rel="alternate" hreflang="de" href="{d}/de/a">', 'de/a', link, { answer: HTML }),
  probe('alternate markdown', '<link rel="alternate" type="text/markdown" href="{d}/a.md">', 'a.md', link, { answer: { type: 'text/markdown; charset=utf-8' } }),
  probe('alternate feed', '<link rel="alternate" type="application/rss+xml" href="{d}/a.rss">', 'a.rss', link, { answer: { type: 'application/rss+xml' } }),
  probe('feed without an extension', '<a href="{d}/feed/">feed</a>', 'feed/', a, { answer: { type: 'application/atom+xml' }, served: 'application/atom+xml' }),
  probe('search description', '<link rel="search" type="application/opensearchdescription+xml" href="{d}/a.xml">', 'a.xml', link),
  probe('link next', '<link rel="next" href="{d}/a.html">', 'a.html', link),
  probe('link license', '<link rel="license" href="{d}/a.txt">', 'a.txt', link),
  probe('tile image', '<meta name="msapplication-TileImage" content="{d}/a.png">', 'a.png', at('meta', 'content')),
  probe('speculation rules', '<script type="speculationrules">{"prefetch":[{"source":"list","urls":["{d}/a.html"]}]}</script>', 'a.html', found(/"urls":\["([^"]+)/)),
  probe('faulty markup', '<p <b><table><a href="{d}/b.html"<div title=">"><img alt=">" / src = "{d}/a.png" src="no.png">', 'a.png', img, { files: { 'b.html': 'x' } }),
  probe('unclosed comment behind', '<img src="{d}/a.png"><!-- <img src="no.png">', 'a.png', img),
  probe('text that looks like a tag', `<title><img src="no.png"></title><textarea><img src="no2.png"></textarea><script>"<img src='no3.png'>"</script><img src="{d}/a.png">`, 'a.png', img),
  probe('custom element', '<model-viewer src="{c}/a.glb" poster="{d}/b.webp"></model-viewer>', 'c:a.glb', at('model-viewer', 'src'), { files: { 'b.webp': 'x' } }),
  probe('specification of an api', '<redoc spec-url="{d}/openapi.yaml"></redoc>', 'openapi.yaml', at('redoc', 'spec-url')),
  probe('attribute of a library for lazy pictures', '<p data-hero-bg-src="{d}/b.png"><img data-wide-srcset="{d}/c.png 1x, {d}/a.png 2x">', 'a.png', listed('img', 'data-wide-srcset', 1), { files: { 'b.png': 'x', 'c.png': 'x' } }),
];

/** Nested documents, and base addresses of references. */
// biome-ignore format: one probe a line
const FRAME_PROBES: readonly Probe[] = [
  probe('iframe', '<iframe src="{d}/a"></iframe>', 'a', at('iframe', 'src'), { answer: HTML, served: 'text/html' }),
  probe('iframe lazy', '<iframe loading=lazy src="{d}/a.html?x=1"></iframe>', 'a.html?x=1', at('iframe', 'src')),
  probe('frame', '<!doctype html><html><frameset cols="*"><frame src="{d}/b.html"></frameset></html>', 'a.png', [at('frame', 'src'), img], { files: { 'b.html': '<img src="a.png">' } }),
  probe('srcdoc', `<iframe srcdoc="<img src='{d}/a.png'>"></iframe>`, 'a.png', within(['iframe', 'srcdoc'], ['img', 'src'])),
  probe('srcdoc with entities', '<iframe srcdoc="&lt;img src=&quot;{d}/a.png?x=1&amp;amp;y=2&quot;&gt;"></iframe>', 'a.png?x=1&y=2', within(['iframe', 'srcdoc'], ['img', 'src'])),
  probe('srcdoc in srcdoc', `<iframe srcdoc="<iframe srcdoc='&lt;img src={d}/a.png>'></iframe>"></iframe>`, 'a.png', within(['iframe', 'srcdoc'], ['iframe', 'srcdoc'], ['img', 'src'])),
  probe('srcdoc with a style', `<iframe srcdoc='<style>p{background:url(&quot;{d}/a.png&quot;)}</style>'></iframe>`, 'a.png', foundIn('iframe', 'srcdoc', URL_IN_CSS)),
  probe('meta refresh', `<meta http-equiv="Refresh" content="3; URL='{d}/a.html'">`, 'a.html', foundIn('meta', 'content', /url='?([^']+)/i)),
  probe('base', '<base href="{d}/deep/"><img src="../a.png">', 'a.png', img),
  probe('base of another origin', '<base href="{c}/x/y"><img src="a.png">', 'c:x/a.png', img),
  probe('base relative and link', '<base href="../f/base-relative-and-link/"><a href="a?q#part">x</a>', 'a?q', a, { answer: HTML }),
  probe('base behind what it rules', '<img src="a.png"><base href="{d}/">', 'a.png', img),
  probe('base without a slash', '<base href="{d}/file"><img src="a.png">', 'a.png', img),
  probe('base for a target alone', '<base target=_blank><img src="../f/base-for-a-target-alone/a.png">', 'a.png', img),
  probe('base that is none', '<base href="data:,x"><img src="{d}/a.png">', 'a.png', found(/img src="([^"]+)/)),
  probe('noframes', '<!doctype html><html><frameset><noframes><a href="{d}/a.html">x</a></noframes></frameset></html>', 'a.html', found(/<a href="([^"]+)/)),
];

/** Preloads, icons and the web manifest in the head of a page. */
// biome-ignore format: one probe a line
const HEAD_PROBES: readonly Probe[] = [
  probe('preload font', '<link rel="preload" as="font" crossorigin href="{c}/a.woff2">', 'c:a.woff2', link),
  probe('preload style', '<link rel=preload as=style href="{d}/b.css">', 'a.png', [link, found(URL_IN_CSS)], { files: { 'b.css': 'x{background:url(a.png)}' } }),
  probe('preload fetch', '<link rel=preload as=fetch href="{d}/a.json">', 'a.json', link),
  probe('modulepreload', '<link rel="modulepreload" href="{d}/b.mjs">', 'a.mjs', [link, found(/"([^"]+)/)], { files: { 'b.mjs': { type: 'text/javascript', body: 'import "./a.mjs"' } }, answer: { type: 'text/javascript' } }),
  probe('prefetch', '<link rel="prefetch" href="{d}/a.js">', 'a.js', link),
  probe('icon', '<link rel="shortcut icon" href="{d}/a.ico">', 'a.ico', link),
  probe('apple touch icon', '<link rel="apple-touch-icon-precomposed" sizes=180x180 href="{d}/a.png">', 'a.png', link),
  probe('mask icon', '<link rel="mask-icon" href="{d}/a.svg" color=red>', 'a.svg', link),
  probe('manifest icon', '<link rel="manifest" href="{d}/b.webmanifest">', 'a.png', [link, found(/"src":"([^"]+)/)], { files: { 'b.webmanifest': '{"icons":[{"src":"a.png","sizes":"1x1"}]}' } }),
  probe('manifest sent as json', '<link rel="manifest" href="{d}/manifest.json" crossorigin=use-credentials>', 'a.png', [link, found(/"src":"([^"]+)/)], { files: { 'manifest.json': '{"name":"x","screenshots":[{"src":"\\/f\\/manifest-sent-as-json\\/a.png"}]}' } }),
];

/** References in SVG (inline and in files) and in XHTML. */
// biome-ignore format: one probe a line
const SVG_PROBES: readonly Probe[] = [
  probe('svg use', '<svg><use href="{d}/a.svg#part"/></svg>', 'a.svg', at('use', 'href')),
  probe('svg use xlink', '<svg><use xlink:href="{d}/a.svg#part"></use></svg>', 'a.svg', at('use', 'xlink:href')),
  probe('svg image', '<svg><image href="{c}/a.png"/></svg>', 'c:a.png', at('image', 'href')),
  probe('svg feimage', '<svg><filter><feImage href="{d}/a.png"/></filter></svg>', 'a.png', at('feImage', 'href')),
  probe('svg a', '<svg><a xlink:href="{d}/a.html"><text>x</text></a></svg>', 'a.html', at('a', 'xlink:href')),
  probe('svg script', '<svg><script href="{d}/a.js"></script></svg>', 'a.js', at('script', 'href')),
  probe('svg style', '<svg><style>rect{fill:url({d}/a.svg#g)}</style></svg>', 'a.svg', found(URL_IN_CSS)),
  probe('svg fill attribute', `<svg><rect fill="url('{d}/a.svg#g')"/></svg>`, 'a.svg', foundIn('rect', 'fill', URL_IN_CSS)),
  probe('svg file', '<img src="{d}/b.svg">', 'a.png', [img, found(/xlink:href="([^"]+)/)], { files: { 'b.svg': '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="a.png"/></svg>', } }),
  probe('svg file with prefixes and cdata', '<object data="{d}/b.svg"></object>', 'a.png', [at('object', 'data'), found(URL_IN_CSS)], { files: { 'b.svg': '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:style><![CDATA[.a{fill:url("a.png")}]]></s:style></s:svg>', } }),
  probe('svg file with a style sheet', '<img src="{d}/b.svg">', 'a.css', [img, found(/xml-stylesheet[^>]*href="([^"]+)/)], { files: { 'b.svg': '<?xml version="1.0"?><?xml-stylesheet type="text/css" href="a.css"?><svg xmlns="http://www.w3.org/2000/svg"/>', } }),
  probe('xhtml page', { type: 'application/xhtml+xml', body: '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><img src="{d}/a.png"/></body></html>', }, 'a.png', found(/img src="([^"]+)/)),
  probe('svg file with a prefix for links', '<img src="{d}/b.svg">', 'a.png', [img, found(/l:href="([^"]+)/)], { files: { 'b.svg': '<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><image l:href="a.png"/></svg>', } }),
  probe('mathml', '<math><mrow href="{d}/a.html"><mi>x</mi></mrow></math>', 'a.html', at('mrow', 'href')),
];

const SHEET = '<link rel="stylesheet" href="{d}/s.css">';
/** A style sheet in the probe's folder that references the marked file. */
const styled = (name: string, css: string, marked: string, pattern = URL_IN_CSS, more: Partial<Probe> = {}): Probe =>
  probe(`css ${name}`, SHEET, marked, [link, found(pattern)], { ...more, files: { 's.css': css, ...more.files } });

/** References in style sheets. */
// biome-ignore format: one probe a line
const STYLE_PROBES: readonly Probe[] = [
  styled('url', 'p{background:url(a.png)}', 'a.png'),
  styled('url in quotes', 'p{background:URL( "a b.png" )}', 'a%20b.png'),
  styled('url with escapes', 'p{background:url(\\61\\.png)}', 'a.png', URL_IN_CSS, { steps: [link, cssUrl] }),
  styled('url with escaped brackets', 'p{background:url(a\\(1\\).png)}', 'a(1).png'),
  styled('url with an escape in quotes', "p{background:url('\\000061.p\\\nng')}", 'a.png', URL_IN_CSS, { steps: [link, cssUrl], }),
  styled('url of another origin', 'p{background:url({c}/a.png)}', 'c:a.png'),
  styled('import of a string', "@import 'a.css';", 'a.css', /@import '([^']+)/),
  styled('import of a url', '@import url(a.css);', 'a.css'),
  styled('import with layer', '@import url("a.css") layer(base) supports(display: grid) screen and (min-width: 1px);', 'a.css'),
  styled('import with layer of a string', '@charset "utf-8";@layer a;@import "a.css" layer(x) print;', 'a.css', /@import "([^"]+)/),
  styled('import in an import', '@import "b.css";', 'a.png', /@import "([^"]+)/, { files: { 'b.css': '@import url({c}/c.css);', 'c:c.css': 'p{cursor:url(deep/../a.png),auto}' }, marked: 'c:a.png', steps: [link, found(/@import "([^"]+)/), found(URL_IN_CSS), found(URL_IN_CSS)], }),
  styled('import in a circle', '@import "b.css";', 'a.png', /@import "([^"]+)/, { files: { 'b.css': '@import "s.css"; p{background:url(a.png)}' }, steps: [link, found(/@import "([^"]+)/), found(URL_IN_CSS)], }),
  styled('import of fonts by a query', '@import url("{cdn}/css2?family=A:wght@400;700&display=swap");', 'c:a.woff2', URL_IN_CSS, { files: { 'c:/css2?family=A:wght@400;700&display=swap': { type: 'text/css; charset=utf-8', body: '@font-face{font-family:A;src:url({c}/a.woff2) format("woff2");unicode-range:U+0-FF}', }, }, steps: [link, found(/@import url\("([^"]+)/), found(URL_IN_CSS)], }),
  styled('image-set', 'p{background:image-set("b.png" 1x, "a.png" 2x)}', 'a.png', /"([^"]+)" 2x/, { files: { 'b.png': 'x' }, }),
  styled('image-set with types', 'p{background:-webkit-image-set(url(a.avif) type("image/avif") 1x)}', 'a.avif'),
  styled('font-face', '@font-face{font-family:F;src:local("F"),url("b.eot?#iefix") format("embedded-opentype"),url(a.woff2) format("woff2")}', 'a.woff2', /url\(([^)]+)\) format\("woff2/, { files: { 'b.eot?': { type: 'font/eot', body: 'x' } } }),
  styled('font-face by range', '@font-face{src:url(b.woff2);unicode-range:U+0-FF}@font-face{src:url(a.woff2);unicode-range:U+100-1FF}', 'a.woff2', /.*url\(([^)]+)/, { files: { 'b.woff2': 'x' } }),
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
  styled('behind a comment', '/* url(no.png) @import "no.css"; */p{background:/**/url(a.png)}', 'a.png', /\*\/url\(([^)]+)/),
  styled('behind a byte order mark', '\ufeff@import "a.css";', 'a.css', /@import "([^"]+)/),
  styled('minified', '.a{background:#fff url(a.png)no-repeat 0 0/10px}.b{color:red}', 'a.png'),
  styled('namespace left alone', '@namespace svg url(http://www.w3.org/2000/svg);p{background:url(a.png)}', 'a.png', /background:url\(([^)]+)/),
  styled('data left alone', "p{background:url(data:image/svg+xml,%3Csvg%20xmlns='http://www.w3.org/2000/svg'/%3E)}q{background:url(a.png)}", 'a.png', /q\{background:url\(([^)]+)/),
  styled('src function', '@font-face{src:src("a.woff2")}', 'a.woff2', /src\("([^"]+)/),
  styled('page rule', '@page :first{background:url(a.png)}', 'a.png'),
  styled('counter style', '@counter-style c{system:cyclic;symbols:url(a.png);suffix:" "}', 'a.png'),
  probe('css in another charset', '<link rel="stylesheet" href="{d}/s.css">', 'a.png', [link, found(URL_IN_CSS)], { files: { 's.css': { type: 'text/css; charset=Shift_JIS', body: Buffer.from([ ...Buffer.from('p::before{content:"'), 0x83, 0x5c, 0x95, 0x5c, ...Buffer.from('"}q{background:url(a.png)}'), ]), }, } }),
  probe('css without an extension', '<link rel="stylesheet" href="{d}/load.php?modules=a|b&amp;only=styles">', 'load.php?modules=a|b&only=styles', link, { answer: { type: 'text/css' }, served: 'text/css' }),
  probe('css sent as text', '<link rel="stylesheet" href="{d}/s.css">', 'a.png', [link, found(URL_IN_CSS)], { files: { 's.css': { type: 'text/plain', body: 'p{background:url(a.png)}' } } }),
  probe('css of a redirect', '<link rel="stylesheet" href="{d}/latest.css">', 'v2/a.png', [link, found(URL_IN_CSS)], { files: { 'latest.css': { status: 302, headers: { location: '{d}/v2/s.css' } }, 'v2/s.css': 'p{background:url(a.png)}', } }),
  probe('css in utf 16', SHEET, 'a.png', [link, (from) => cssUrl({ ...from, text: from.text.replaceAll('\0', '') })], { files: { 's.css': { type: 'text/css', body: Buffer.from('\ufeffp{background:url("a.png")}', 'utf16le') } } }),
];

/** An inline module that references the marked file. */
const inline = (name: string, body: string, marked: string, pattern: RegExp): Probe =>
  probe(`js ${name}`, `<script type="module">${body}</script>`, marked, found(pattern));

/** A script file in the probe's folder that references the marked file. */
const scripted = (name: string, body: string, marked: string, pattern = STRING, more: Partial<Probe> = {}): Probe =>
  probe(`js ${name}`, '<script type="module" src="{d}/s.js"></script>', marked, [script, found(pattern)], {
    ...more,
    files: { 's.js': { ...JS, body }, ...more.files },
  });

/** References in scripts that docshelf can find without running them. */
// biome-ignore format: one probe a line
const SCRIPT_PROBES: readonly Probe[] = [
  probe('script src', '<script async src="{c}/a.js"></script>', 'c:a.js', script),
  probe('script nomodule', '<script nomodule defer src="{d}/a.js"></script>', 'a.js', script),
  probe('script without an extension', '<script src="{d}/npm/lib@3"></script>', 'npm/lib@3', script, { answer: JS, served: 'text/javascript' }),
  probe('script sent as text', '<script type=module src="{d}/s.js"></script>', 'a.js', [script, found(STRING)], { files: { 's.js': { type: 'text/plain', body: 'import "./a.js"' } }, answer: { type: 'text/plain' } }),
  inline('import', 'import a from "{d}/a.js"; a()', 'a.js', /from "([^"]+)/),
  inline('import for its effect', "import '{c}/a.js'", 'c:a.js', /import '([^']+)/),
  inline('export from', 'export * from "{d}/a.js"', 'a.js', /from "([^"]+)/),
  inline('dynamic import', 'button.onclick=()=>import("{d}/a.js")', 'a.js', /import\("([^"]+)/),
  inline('dynamic import of a template', 'const m=await import(`{d}/a.js`)', 'a.js', /import\(`([^`]+)/),
  inline('import of json', 'import d from "{d}/a.json" with {type:"json"}', 'a.json', /from "([^"]+)/),
  inline('import of css', 'import d from "{d}/a.css" with {type:"css"}', 'a.css', /from "([^"]+)/),
  scripted('import in a file', 'import {a} from "./lib/../a.js"', 'a.js'),
  scripted('import of another origin', 'export {a} from "{c}/a.js"', 'c:a.js'),
  scripted('imports minified', 'import{a as b}from"./b.js";import"./a.js";b()', 'a.js', /import"([^"]+)/, { files: { 'b.js': { ...JS, body: 'export const a=()=>{}' } }, }),
  scripted('imports of imports', 'import "./b.js"', 'a.js', STRING, { files: { 'b.js': { ...JS, body: 'import("./a.js")' } }, steps: [script, found(STRING), found(STRING)], }),
  scripted('import without an extension', 'import "./a?v=1"', 'a?v=1', STRING, { answer: JS, served: 'text/javascript', }),
  scripted('new url', 'img.src = new URL("./a.png", import.meta.url).href', 'a.png'),
  scripted('new url in single quotes', "const u = new URL( 'sub/a.wasm' , import.meta.url )", 'sub/a.wasm'),
  scripted('import meta resolve', 'const u = import.meta.resolve("./a.js")', 'a.js'),
  scripted('worker by new url', 'new Worker(new URL("./w.js", import.meta.url), {type:"module"})', 'a.js', STRING, { files: { 'w.js': { ...JS, body: 'import "./a.js"' } }, steps: [script, found(STRING), found(STRING)], }),
  scripted('shared worker', 'new SharedWorker(new URL("./a.js", import.meta.url))', 'a.js'),
  probe('js worker of a classic script', '<script>const w = new Worker("{d}/a.js")</script>', 'a.js', found(/Worker\("([^"]+)/)),
  probe('js importscripts', '<script>new Worker("{d}/w.js")</script>', 'a.js', [found(/Worker\("([^"]+)/), found(/'([^']+)/)], { files: { 'w.js': { ...JS, body: 'importScripts("b.js", \'a.js\'); onmessage=()=>{}' }, 'b.js': { ...JS, body: '1' }, } }),
  probe('js service worker', '<script>navigator.serviceWorker.register("{d}/a.js",{scope:"/"})</script>', 'a.js', found(/register\("([^"]+)/)),
  probe('js worklet', '<script>CSS.paintWorklet.addModule("{d}/a.js")</script>', 'a.js', found(/addModule\("([^"]+)/)),
  probe('import map', '<script type="importmap">{"imports":{"lib":"{d}/a.js"}}</script><script type=module>import "lib"</script>', 'a.js', mapped('lib')),
  probe('import map of another origin', '<script type="importmap">{"imports":{"lib":"{c}/b.js"}}</script><script type=module>import "lib"</script>', 'c:a.js', [mapped('lib'), found(STRING)], { files: { 'c:b.js': { ...JS, body: 'export * from "./a.js"' } } }),
  probe('import map with a folder', '<script type="importmap">{"imports":{"lib/":"{d}/lib/"}}</script><script type=module>import "lib/a.js"</script>', 'lib/a.js', mapped('lib/', 'a.js')),
  probe('import map and a script file', '<script type="importmap">{"imports":{"lib":"{d}/a.js"}}</script><script type=module src="{d}/s.js"></script>', 'a.js', mapped('lib'), { files: { 's.js': { ...JS, body: 'import "lib"' } } }),
  probe('import map with a scope', '<script type="importmap">{"imports":{},"scopes":{"{d}/":{"lib":"{d}/a.js"}}}</script><script type=module src="{d}/s.js"></script>', 'a.js', found(/"lib":"([^"]+)/), { files: { 's.js': { ...JS, body: 'import "lib"' } } }),
  probe('script that fetches', '<script>fetch("{d}/a"+".json");fetch("{c}/a.json").then(r=>r.json())</script>', 'c:a.json', found(/fetch\("([^"]+)"\)/)),
  probe('script that fetches of its own origin', '<script type=module>const r=await fetch("{site}{d}/a.txt")</script>', 'a.txt', found(/fetch\("([^"]+)/)),
  probe('script that makes an image', '<script>const i=new Image();i.src="{c}/a.png"</script>', 'c:a.png', found(/src="([^"]+)/)),
  probe('script that leads on', '<script>location.replace("{d}/a?b=1")</script>', 'a?b=1', found(/replace\("([^"]+)/), { answer: HTML, served: 'text/html' }),
  probe('handler that leads on', `<button onclick="window.location.href='{d}/a'">x</button>`, 'a', foundIn('button', 'onclick', /'([^']+)/), { answer: HTML, served: 'text/html' }),
  probe('handler that changes a picture', `<img src="data:," onmouseover="this.src='{d}/a.png'">`, 'a.png', foundIn('img', 'onmouseover', /'([^']+)/)),
  probe('astro island', '<astro-island component-url="{d}/a.js" renderer-url="{d}/b.js"></astro-island>', 'a.js', at('astro-island', 'component-url'), { files: { 'b.js': { ...JS, body: '1' } } }),
  probe('next data', '<script id="__NEXT_DATA__" type="application/json">{"buildId":"b1"}</script>', '/_next/data/b1/probe/next-data.json', known('/_next/data/b1/probe/next-data.json')),
  probe('next chunks', `<script src="/_next/static/chunks/main.js"></script><script>self.__next_f.push([1,"3:I[1,[\\"12\\",\\"static/chunks/late-a.js\\"],\\"x\\"]"])</script>`, '/_next/static/chunks/late-a.js', known('/_next/static/chunks/late-a.js'), { files: { '/_next/static/chunks/main.js': { ...JS, body: '1' } } }),
  probe('next payload', '<script>self.__next_f.push([0])</script>', '/probe/next-payload.txt', known('/probe/next-payload.txt')),
  probe('nuxt payload', '<script>window.__NUXT__={}</script>', '/probe/nuxt-payload/_payload.json', known('/probe/nuxt-payload/_payload.json')),
  probe('vite dependencies', '<script type=module src="/assets/entry.js"></script>', '/assets/late-a.css', known('/assets/late-a.css'), { files: { '/assets/entry.js': { ...JS, body: 'const __vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["assets/late-a.css"])))=>i;', }, } }),
  probe('script that gets by a library', '<script>$.getJSON("{d}/a.json", show)</script>', 'a.json', found(/getJSON\("([^"]+)/)),
  probe('script that shows an api', '<script>SwaggerUIBundle({ urls: [{ "url": "../f/script-that-shows-an-api/a.yaml", name: "x" }] })</script>', 'a.yaml', found(/"url": "([^"]+)/)),
  probe('script that adds a style sheet', `<script>const l=document.createElement("link");l.rel="stylesheet";l.href='{d}/a.css';document.head.append(l)</script>`, 'a.css', found(/l\.href='([^']+)/)),
];

/** A picture with this address. */
const written = (name: string, src: string, marked: string, more: Partial<Probe> = {}): Probe =>
  probe(`address with ${name}`, `<img src="${src}">`, marked, img, more);

/** A link to a page. */
const linked = (name: string, href: string, marked: string | null, more: Partial<Probe> = {}): Probe =>
  probe(name, `<a href="${href}">x</a>`, marked, a, { answer: HTML, served: 'text/html', ...more });

const redirect = (location: string, status = 301): OriginFile => ({ status, headers: { location } });

/** Forms of addresses, responses, and file names. */
// biome-ignore format: one probe a line
const ADDRESS_PROBES: readonly Probe[] = [
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
  written('parameters', '{d}/a.png;jsessionid=1', 'a.png;jsessionid=1', { answer: { type: 'image/png' }, served: 'image/png', }),
  written('an empty query', '{d}/a.png?', 'a.png'),
  written('capital letters', '{d}/A.png', 'A.png', { files: { 'a.png': 'the other one' }, page: '<img src="{d}/A.png"><img src="{d}/a.png">', }),
  written('capital folders', '{d}/Sub/a.png', 'Sub/a.png', { files: { 'sub/a.png': 'the other one' }, page: '<img src="{d}/Sub/a.png"><img src="{d}/sub/a.png">', }),
  written('one query', '{d}/i.png?w=2', 'i.png?w=2', { files: { 'i.png?w=1': 'one', 'i.png': 'plain' }, page: '<img src="{d}/i.png?w=2"><img src="{d}/i.png?w=1"><img src="{d}/i.png">', }),
  written('a query that names a path', '{d}/image?url=%2Fimg%2Fa.png&amp;w=640', 'image?url=%2Fimg%2Fa.png&w=640', { answer: { type: 'image/webp' }, served: 'image/webp', }),
  written('a long query', `{d}/i?q=${'x'.repeat(1500)}`, `i?q=${'x'.repeat(1500)}`, { answer: { type: 'image/png' }, served: 'image/png', }),
  written('another extension than its type', '{d}/a.php', 'a.php', { answer: { type: 'image/png' }, served: 'image/png', }),
  written('another picture type', '{d}/a.jpg', 'a.jpg', { answer: { type: 'image/svg+xml' }, served: 'image/svg+xml' }),
  written('no extension', '{d}/avatar', 'avatar', { answer: { type: 'image/svg+xml; charset=utf-8' }, served: 'image/svg+xml', }),
  written('a file that others need as folder', '{d}/a', 'a', { page: '<img src="{d}/a"><img src="{d}/a/b.png">', files: { 'a/b.png': 'x' }, answer: { type: 'application/octet-stream' }, }),
  linked('page without an extension', '{d}/a', 'a'),
  linked('page with a fragment', '{d}/a#part', 'a'),
  linked('page of another type of name', '{d}/a.aspx?id=3', 'a.aspx?id=3'),
  linked('page with a version for a name', '{d}/v1.2', 'v1.2'),
  linked('page that is a folder too', '{d}/a', 'a', { files: { 'a/': { ...HTML, body: 'other' }, 'a/b': { ...HTML, body: 'child' } }, page: '<a href="{d}/a">x</a><a href="{d}/a/b">y</a><a href="{d}/a/">z</a>', }),
  linked('child of a page', '{d}/a/b', 'a/b', { files: { a: { ...HTML, body: 'parent <a href="a/b">child</a>' } }, page: '<a href="{d}/a">x</a>', steps: [a, a], }),
  linked('folder page', '{d}/a/', 'a/'),
  linked('folder page without its slash', '{d}/a', 'a/', { files: { a: redirect('{d}/a/') } }),
  linked('relative from a folder page', '{d}/a/', 'b', { files: { 'a/': { ...HTML, body: '<a href="../b">x</a>' } }, steps: [a, a], }),
  linked('page in two cases', '{d}/Guide', 'Guide', { files: { guide: { ...HTML, body: 'other' } }, page: '<a href="{d}/Guide">x</a><a href="{d}/guide">y</a>', }),
  linked('page by its own host without a scheme', '//{sitehost}{d}/a', 'a'),
  linked('fragment beyond ascii', '{d}/a#%C3%BC', 'a'),
  linked('index of a folder', '{d}/a/index.html', 'a/index.html', { page: '<a href="{d}/a/index.html">x</a><a href="{d}/a/">y</a>', files: { 'a/': { ...HTML, body: 'other' } }, }),
  linked('query alone', '?page=2', null, { marked: '/probe/query-alone?page=2' }),
  linked('empty address', '', null, { page: '<a href="">x</a>MARK-empty-address-END', answer: {} }),
  linked('fragment alone', '#part', null, { page: '<a href="#part">x</a><p id=part>MARK-fragment-alone-END' }),
  linked('page only in a frame of a page', '{d}/b', 'a', { files: { b: { ...HTML, body: '<iframe src="a"></iframe>' } }, steps: [a, at('iframe', 'src')], }),
  linked('redirect to a page', '{d}/old', 'new', { files: { old: redirect('{d}/new') } }),
  linked('redirect with a fragment', '{d}/old', 'new', { files: { old: redirect('{d}/new#part', 308) } }),
  linked('redirect chain', '{d}/1', 'new', { files: { 1: redirect('{d}/2', 302), 2: redirect('3', 307), 3: redirect('./new', 303) }, }),
  linked('redirect to a query', '{d}/old', 'new?v=2', { files: { old: redirect('{d}/new?v=2') } }),
  probe('redirect to a picture', '<img src="{d}/latest.png">', 'c:v2/a.png', img, { files: { 'latest.png': redirect('{c}/v2/a.png', 302) } }),
  probe('redirect to a picture of another type', '<img src="{d}/latest">', 'a.webp', img, { files: { latest: redirect('{d}/a.webp', 302) }, served: 'image/webp' }),
  probe('download by query', '<a href="{d}/get?id=7">x</a>', 'get?id=7', a, { answer: { type: 'application/zip', headers: { 'content-disposition': 'attachment; filename="x.zip"' } }, served: 'application/zip' }),
  probe('file of an unknown type', '<a href="{d}/a.xyz" download>x</a>', 'a.xyz', a, { answer: { type: 'application/octet-stream' } }),
  probe('answer in gzip', '<link rel=stylesheet href="{d}/s.css">', 'a.png', [link, found(/url\(([^)]+)/)], { files: { 's.css': { type: 'text/css', headers: { 'content-encoding': 'gzip' }, body: gzipSync('p{background:url(a.png)}'), }, } }),
  probe('gzip as a file', '<a href="{d}/a.tar.gz">x</a>', 'a.tar.gz', a, { answer: { type: 'application/gzip' } }),
];

/** A page in an encoding, as text and bytes, with its mark and a reference. */
const encoded = (name: string, parts: readonly (string | number[])[], marked = 'a.png', type = 'text/html'): Probe =>
  probe(`page in ${name}`, { type, body: latin1(parts, `/f/page-in-${name}`) }, marked, img);

/** `{d}` is the folder. It is replaced here, because later only texts are. */
const latin1 = (parts: readonly (string | number[])[], folder: string): Buffer =>
  Buffer.concat(
    parts.map((part) =>
      typeof part === 'string' ? Buffer.from(part.replace('{d}', folder), 'latin1') : Buffer.from(part),
    ),
  );

const utf16 = (name: string, turn: (body: Buffer) => Buffer, type?: string): Probe => {
  const body = Buffer.from(`\ufeff<p>caf\u00e9</p><img src="/f/page-in-${name}/a.png">`, 'utf16le');
  return probe(`page in ${name}`, { type: type ?? 'text/html', body: turn(body) }, 'a.png', img);
};

/** Pages in encodings other than UTF-8, with a reference. `表` ends in 0x5c, a backslash in ASCII. */
// biome-ignore format: one probe a line
const CHARSET_PROBES: readonly Probe[] = [
  encoded('shift-jis', ['<meta charset=shift_jis><p title="', [0x95, 0x5c], '">x</p><img src="{d}/a.png">']),
  encoded('shift-jis-with-a-path', ['<meta charset=shift_jis><img src="{d}/', [0x95, 0x5c], '.png">'], `${encodeURI('表')}.png`),
  encoded('windows-1252', ['<meta charset="windows-1252"><p>caf\u00e9</p><img src="{d}/\u00e9.png">'], '%C3%A9.png'),
  encoded('windows-1252-by-header', ['<p>caf\u00e9</p><img src="{d}/x?q=\u00e9">'], 'x?q=%E9', 'text/html; charset=windows-1252'),
  utf16('utf-16', (body) => body),
  utf16('utf-16be', (body) => body.swap16()),
  utf16('utf-16-by-header', (body) => body.subarray(2), 'text/html; charset=utf-16le'),
  encoded('iso-2022-jp', ['<meta charset=iso-2022-jp><p>\x1b$B<">"\x1b(B</p><img src="{d}/a.png">']),
  encoded('big5', ['<meta charset=big5><p title="', [0xa5, 0x5c], '"></p><img src="{d}/a.png">']),
  encoded('gbk', ['<meta http-equiv=content-type content="text/html; charset=gb2312"><p>', [0xd6, 0xd0], '</p><img src="{d}/a.png">']),
];

const sheetOf = found(/xml-stylesheet[^>]*href=["']([^"']+)/);

/** References in XML files that are not pages, and in headers. */
// biome-ignore format: one probe a line
const FEED_PROBES: readonly Probe[] = [
  probe('style sheet of a feed', '<link rel="alternate" type="application/rss+xml" href="{d}/rss.xml">', 'a.xsl', [link, sheetOf], { answer: { type: 'text/xsl' }, files: { 'rss.xml': { type: 'application/rss+xml', body: '<?xml version="1.0"?>\n<?xml-stylesheet type="text/xsl" href="a.xsl"?>\n<rss/>', }, } }),
  probe('style sheet of a feed of another origin', '<link rel="alternate" href="{d}/atom.xml">', 'c:a.css', [link, sheetOf], { files: { 'atom.xml': { type: 'text/xml', body: `<?xml version="1.0"?><?xml-stylesheet href='{c}/a.css' type='text/css'?><feed/>`, }, } }),
  probe('tiles of a site', '<meta name="msapplication-config" content="{d}/browserconfig.xml">', 'a.png', [at('meta', 'content'), found(/src="([^"]+)/)], { files: { 'browserconfig.xml': { type: 'application/xml', body: '<browserconfig><msapplication><tile><square70x70logo src="a.png"/></tile></msapplication></browserconfig>', }, } }),
  probe('refresh header', '<a href="{d}/old">x</a>', 'a.html', a, { files: { old: { type: 'text/html', headers: { refresh: '0; URL="{d}/a.html"' }, body: '<p>moved' } } }),
];

const js = (body: string): OriginFile => ({ ...JS, body });

/** A page whose built-in search requests the marked file at an address that is not in the markup. */
const searched = (name: string, page: string, marked: string, more: Partial<Probe> = {}): Probe =>
  probe(`search of ${name}`, page, `/search-of/${marked}`, known(`/search-of/${marked}`), more);

/** Built-in searches of static sites, which load their index when a reader searches. Pages are at `/probe/`, one folder deep. */
// biome-ignore format: one probe a line
const SEARCH_PROBES: readonly Probe[] = [
  searched('mkdocs material', '<script id="__config" type="application/json">{"base": "../search-of/material", "search": "../search-of/worker.js"}</script>', 'material/search/search_index.json', { files: { '/search-of/worker.js': js('1') } }),
  searched('mkdocs', '<script>var base_url = "../search-of/mkdocs", shortcuts = {};</script>', 'mkdocs/search/worker.js'),
  searched('mdbook', '<script>var path_to_root = "../search-of/mdbook/";</script>', 'mdbook/searchindex.json'),
  searched('mdbook with a digest', '<script>const path_to_root = "../search-of/";window.path_to_searchindex_js = "searchindex-1a2b.js";</script>', 'searchindex-1a2b.js'),
  searched('javadoc', '<script>const pathtoroot = "../search-of/api/";loadScripts(document, "script");</script>', 'api/member-search-index.js'),
  searched('gitbook', '<script>gitbook.page.hasChanged({"page":{},"basePath":"../search-of/gitbook"});</script>', 'gitbook/search_index.json'),
  searched('rustdoc', '<meta name="rustdoc-vars" data-root-path="../search-of/rust/" data-static-root-path="../search-of/static.files/" data-search-js="search-1a2b.js">', 'static.files/search-1a2b.js'),
  searched('doxygen', '<script src="/search-of/doxygen/searchdata.js"></script>', 'doxygen/classes_1.js', { files: { '/search-of/doxygen/searchdata.js': js('var indexSectionsWithContent =\n{\n  0: "abc",\n  1: "xy"\n};\nvar indexSectionNames =\n{\n  0: "all",\n  1: "classes"\n};'), }, }),
  searched('docusaurus', '<script src="/search-of/site/assets/js/main.js"></script>', 'site/search-index.json', { files: { '/search-of/site/assets/js/main.js': js('const a="search-index{dir}.json?_=1a2b";') }, }),
  searched('sphinx before 2', '<script>Search.loadIndex("../search-of/searchindex.js")</script>', 'searchindex.js'),
  searched('swagger ui', '<script src="/search-of/swagger/init.js"></script>', 'swagger/openapi.json', { files: { '/search-of/swagger/init.js': js('window.ui = SwaggerUIBundle({ url: "openapi.json" });') }, }),
];

/** All probes that a crawl solves without a browser. */
export const PROBES: readonly Probe[] = [
  ...MARKUP_PROBES,
  ...FRAME_PROBES,
  ...HEAD_PROBES,
  ...SVG_PROBES,
  ...STYLE_PROBES,
  ...SCRIPT_PROBES,
  ...ADDRESS_PROBES,
  ...CHARSET_PROBES,
  ...FEED_PROBES,
  ...SEARCH_PROBES,
];

const TEXT =
  'Some sixty words that are in the page as it comes so that nobody takes it for one that scripts have written '.repeat(
    3,
  );
const CORS = { 'access-control-allow-origin': '*' };
const JSON_TYPE = { type: 'application/json', headers: CORS };
/** Shows a text. The script builds it, so that the mark is not in the script itself. */
const SHOW = 'const show=(t)=>{document.getElementById("o").textContent=t},ok="MARK-"+slug+"-"+"END";';

/** A page whose script shows the mark after it has loaded a file. */
const run = (name: string, script: string, marked: string, more: Partial<Probe> = {}): Probe => ({
  name,
  page: `<!doctype html><title>x</title><p>${TEXT}</p><output id="o"></output><div id="end"></div><script>const slug="${name.replaceAll(' ', '-')}";${SHOW}${script}</script>`,
  marked,
  steps: [],
  ...(marked.endsWith('.json') ? { answer: JSON_TYPE } : {}),
  ...more,
});

const shared = (body: string): OriginFile => ({ type: 'text/javascript', headers: CORS, body });

/** References that exist only while a script runs. */
// biome-ignore format: one probe a line
export const RUNTIME_PROBES: readonly Probe[] = [
  run('fetch of a path', 'fetch("{d}/a.json").then(r=>r.json()).then(j=>show(j.mark))', 'a.json'),
  run('fetch relative to the page', 'fetch("../f/fetch-relative-to-the-page/"+"a.json").then(r=>r.json()).then(j=>show(j.mark))', 'a.json'),
  run('fetch of a query', 'const n="2";fetch("{d}/"+"a.json?n="+n).then(r=>r.json()).then(j=>show(j.mark))', 'a.json?n=2', { answer: JSON_TYPE }),
  run('fetch without an extension', 'fetch("{d}/api/"+["x","items"].join("/")).then(r=>r.json()).then(j=>show(j.mark))', 'api/x/items', { answer: JSON_TYPE }),
  run('fetch of the own origin', 'fetch("{site}{d}/a.json").then(r=>r.json()).then(j=>show(j.mark))', 'a.json'),
  run('fetch of another origin', 'fetch("{c}/a.json").then(r=>r.json()).then(j=>show(j.mark))', 'c:a.json'),
  run('fetch that is late', 'setTimeout(()=>fetch("{d}/"+"a.json").then(r=>r.json()).then(j=>show(j.mark)),100)', 'a.json'),
  run('fetch after a fetch', 'fetch("{d}/b.json").then(r=>r.json()).then(b=>fetch(b.next)).then(r=>r.json()).then(j=>show(j.mark))', 'a.json', { files: { 'b.json': '{"next":"{d}/a.json"}' } }),
  run('fetch in a module', '', 'a.json', { page: `<!doctype html><title>x</title><p>${TEXT}</p><output id="o"></output><script type="module" src="{d}/m.js"></script>`, files: { 'm.js': shared('const r = await fetch(new URL("a" + ".json", import.meta.url)); document.getElementById("o").textContent = (await r.json()).mark;'), }, }),
  run('xmlhttprequest', 'const x=new XMLHttpRequest();x.open("GET","{d}/a"+".json");x.onload=()=>show(JSON.parse(x.responseText).mark);x.send()', 'a.json'),
  run('created image', 'const i=new Image();i.onload=()=>show(ok);i.src="{d}/"+"a.svg";document.body.append(i)', 'a.svg'),
  run('created image of another origin', 'const i=new Image();i.onload=()=>show(ok);i.src="{c}/"+"a.svg"', 'c:a.svg'),
  run('image when it is seen', 'document.getElementById("end").style.cssText="margin-top:4000px;height:9px";const i=new Image();i.onload=()=>show(ok);new IntersectionObserver((e,o)=>{if(e[0].isIntersecting){o.disconnect();i.src="{d}/"+"a.svg"}}).observe(document.getElementById("end"))', 'a.svg'),
  run('lazy image far below', '', 'a.svg', { page: `<!doctype html><title>x</title><p>${TEXT}</p><output id="o"></output><div style="height:9000px"></div><script>const slug="lazy-image-far-below";${SHOW}const i=new Image();i.loading="lazy";i.width=i.height=9;i.onload=()=>show(ok);i.src="{d}/"+"a.svg";document.body.append(i)</script>`, }),
  run('part that is loaded on scrolling', 'document.getElementById("end").style.marginTop="3000px";addEventListener("scroll",()=>fetch("{d}/"+"a.json").then(r=>r.json()).then(j=>show(j.mark)),{once:true})', 'a.json'),
  run('background of a style', 'document.getElementById("end").style.cssText="height:9px;background:url({d}/"+"a.svg)";const i=new Image();i.onload=()=>show(ok);i.src="{d}/"+"a.svg"', 'a.svg'),
  run('inserted style sheet', 'const l=document.createElement("link");l.rel="stylesheet";l.onload=()=>show(ok);l.href="{d}/"+"a.css";document.head.append(l)', 'a.css'),
  run('rule of a made style sheet', 'const s=new CSSStyleSheet();s.replaceSync("#end{height:9px;background:url({d}/"+"a.svg)}");document.adoptedStyleSheets=[s];const i=new Image();i.onload=()=>show(ok);i.src="{d}/"+"a.svg"', 'a.svg'),
  run('inserted script', 'const s=document.createElement("script");s.onload=()=>show(ok);s.src="{d}/"+"a.js";document.head.append(s)', 'a.js'),
  run('written script', 'document.write("<scr"+"ipt src={d}/a"+".js></scr"+"ipt>");addEventListener("load",()=>show(ok))', 'a.js'),
  run('import of a name that is made', 'const n="a";import("{d}/"+n+".js").then(()=>show(ok))', 'a.js'),
  run('worker of a name that is made', 'const w=new Worker("{d}/"+"w.js");w.onmessage=(e)=>show(e.data)', 'a.json', { files: { 'w.js': shared('fetch("a" + ".json").then((r) => r.json()).then((j) => postMessage(j.mark));') }, }),
  run('worker that starts slowly', 'const w=new Worker("{d}/"+"w.js");w.onmessage=(e)=>show(e.data)', 'a.json', { files: { 'w.js': shared('const end = Date.now() + 600; while (Date.now() < end); fetch("a" + ".json").then((r) => r.json()).then((j) => postMessage(j.mark));') }, }),
  run('made frame', 'const f=document.createElement("iframe");f.onload=()=>show(ok);f.src="{d}/"+"a.html";document.body.append(f)', 'a.html'),
  run('font by its name', 'new FontFace("F","url({d}/"+"a.woff2)").load().catch(()=>0).finally(()=>show(ok))', 'a.woff2'),
  run('path in json of the page', 'const c=JSON.parse(\'{"data":"{d}/a.json"}\');fetch(c.data).then(r=>r.json()).then(j=>show(j.mark))', 'a.json'),
  run('custom element', 'customElements.define("x-y",class extends HTMLElement{connectedCallback(){fetch(this.getAttribute("from")).then(r=>r.json()).then(j=>show(j.mark))}});const e=document.createElement("x-y");e.setAttribute("from","{d}/"+"a.json");document.body.append(e)', 'a.json'),
  run('link that is made', 'const a=document.createElement("a");a.href="{d}/"+"a.html";a.textContent="on";document.body.append(a);show(ok)', 'a.html'),
];

/** Pages that are empty without their scripts. */
// biome-ignore format: one probe a line
export const CLIENT_PROBES: readonly Probe[] = [
  probe('page that a script writes', '<!doctype html><title>x</title><div id="app"></div><script src="{d}/app.js"></script>', null, [], { files: { 'app.js': shared('document.getElementById("app").innerHTML = "<h1>MARK-page-that-" + "a-script-writes-END</h1><p>All of this text is written by a script, <a href={d}/next>and so is this link</a>.</p>"'), next: { type: 'text/html', body: '<p>next' }, } }),
  probe('page that a script writes of data', '<!doctype html><title>x</title><div id="app"></div><script>fetch("{d}/"+"a.json").then(r=>r.json()).then(j=>{document.getElementById("app").innerHTML="<article>"+j.mark+" and more text of the page</article>"})</script>', 'a.json', [], { answer: JSON_TYPE }),
];
