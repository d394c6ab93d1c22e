import { at, found, foundIn, type Probe } from './crawl-probe.ts';

const img = [at('img', 'src')];
const URL_IN_CSS = /url\(["']?([^"')]+)/;

/** References in SVG, in a page and in files, and in XHTML. */
export const SVG_PROBES: readonly Probe[] = [
  { name: 'svg use', page: '<svg><use href="{d}/a.svg#part"/></svg>', marked: 'a.svg', steps: [at('use', 'href')] },
  {
    name: 'svg use xlink',
    page: '<svg><use xlink:href="{d}/a.svg#part"></use></svg>',
    marked: 'a.svg',
    steps: [at('use', 'xlink:href')],
  },
  { name: 'svg image', page: '<svg><image href="{c}/a.png"/></svg>', marked: 'c:a.png', steps: [at('image', 'href')] },
  {
    name: 'svg feimage',
    page: '<svg><filter><feImage href="{d}/a.png"/></filter></svg>',
    marked: 'a.png',
    steps: [at('feImage', 'href')],
  },
  {
    name: 'svg a',
    page: '<svg><a xlink:href="{d}/a.html"><text>x</text></a></svg>',
    marked: 'a.html',
    steps: [at('a', 'xlink:href')],
  },
  {
    name: 'svg script',
    page: '<svg><script href="{d}/a.js"></script></svg>',
    marked: 'a.js',
    steps: [at('script', 'href')],
  },
  {
    name: 'svg style',
    page: '<svg><style>rect{fill:url({d}/a.svg#g)}</style></svg>',
    marked: 'a.svg',
    steps: [found(URL_IN_CSS)],
  },
  {
    name: 'svg fill attribute',
    page: `<svg><rect fill="url('{d}/a.svg#g')"/></svg>`,
    marked: 'a.svg',
    steps: [foundIn('rect', 'fill', URL_IN_CSS)],
  },
  {
    name: 'svg file',
    page: '<img src="{d}/b.svg">',
    marked: 'a.png',
    files: {
      'b.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><image xlink:href="a.png"/></svg>',
    },
    steps: [...img, found(/xlink:href="([^"]+)/)],
  },
  {
    name: 'svg file with prefixes and cdata',
    page: '<object data="{d}/b.svg"></object>',
    marked: 'a.png',
    files: {
      'b.svg':
        '<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:style><![CDATA[.a{fill:url("a.png")}]]></s:style></s:svg>',
    },
    steps: [at('object', 'data'), found(URL_IN_CSS)],
  },
  {
    name: 'svg file with a style sheet',
    page: '<img src="{d}/b.svg">',
    marked: 'a.css',
    files: {
      'b.svg':
        '<?xml version="1.0"?><?xml-stylesheet type="text/css" href="a.css"?><svg xmlns="http://www.w3.org/2000/svg"/>',
    },
    steps: [...img, found(/xml-stylesheet[^>]*href="([^"]+)/)],
  },
  {
    name: 'xhtml page',
    page: {
      type: 'application/xhtml+xml',
      body: '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><body><img src="{d}/a.png"/></body></html>',
    },
    marked: 'a.png',
    steps: [found(/img src="([^"]+)/)],
  },
  {
    name: 'svg file with a prefix for links',
    page: '<img src="{d}/b.svg">',
    marked: 'a.png',
    files: {
      'b.svg':
        '<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><image l:href="a.png"/></svg>',
    },
    steps: [...img, found(/l:href="([^"]+)/)],
  },
  {
    name: 'mathml',
    page: '<math><mrow href="{d}/a.html"><mi>x</mi></mrow></math>',
    marked: 'a.html',
    steps: [at('mrow', 'href')],
  },
];
