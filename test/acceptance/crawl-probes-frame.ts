import { at, found, foundIn, type Probe, within } from './crawl-probe.ts';

const img = [at('img', 'src')];
const URL_IN_CSS = /url\(["']?([^"')]+)/;

/** Documents in documents, and what the references of a page start from. */
export const FRAME_PROBES: readonly Probe[] = [
  {
    name: 'iframe',
    page: '<iframe src="{d}/a"></iframe>',
    marked: 'a',
    answer: { type: 'text/html' },
    served: 'text/html',
    steps: [at('iframe', 'src')],
  },
  {
    name: 'iframe lazy',
    page: '<iframe loading=lazy src="{d}/a.html?x=1"></iframe>',
    marked: 'a.html?x=1',
    steps: [at('iframe', 'src')],
  },
  {
    name: 'frame',
    page: '<!doctype html><html><frameset cols="*"><frame src="{d}/b.html"></frameset></html>',
    marked: 'a.png',
    files: { 'b.html': '<img src="a.png">' },
    steps: [at('frame', 'src'), ...img],
  },
  {
    name: 'srcdoc',
    page: `<iframe srcdoc="<img src='{d}/a.png'>"></iframe>`,
    marked: 'a.png',
    steps: [within(['iframe', 'srcdoc'], ['img', 'src'])],
  },
  {
    name: 'srcdoc with entities',
    page: '<iframe srcdoc="&lt;img src=&quot;{d}/a.png?x=1&amp;amp;y=2&quot;&gt;"></iframe>',
    marked: 'a.png?x=1&y=2',
    steps: [within(['iframe', 'srcdoc'], ['img', 'src'])],
  },
  {
    name: 'srcdoc in srcdoc',
    page: `<iframe srcdoc="<iframe srcdoc='&lt;img src={d}/a.png>'></iframe>"></iframe>`,
    marked: 'a.png',
    steps: [within(['iframe', 'srcdoc'], ['iframe', 'srcdoc'], ['img', 'src'])],
  },
  {
    name: 'srcdoc with a style',
    page: `<iframe srcdoc='<style>p{background:url(&quot;{d}/a.png&quot;)}</style>'></iframe>`,
    marked: 'a.png',
    steps: [foundIn('iframe', 'srcdoc', URL_IN_CSS)],
  },
  {
    name: 'meta refresh',
    page: `<meta http-equiv="Refresh" content="3; URL='{d}/a.html'">`,
    marked: 'a.html',
    steps: [foundIn('meta', 'content', /url='?([^']+)/i)],
  },
  { name: 'base', page: '<base href="{d}/deep/"><img src="../a.png">', marked: 'a.png', steps: img },
  { name: 'base of another origin', page: '<base href="{c}/x/y"><img src="a.png">', marked: 'c:x/a.png', steps: img },
  {
    name: 'base relative and link',
    page: '<base href="../f/base-relative-and-link/"><a href="a?q#part">x</a>',
    marked: 'a?q',
    answer: { type: 'text/html' },
    steps: [at('a', 'href')],
  },
  { name: 'base behind what it rules', page: '<img src="a.png"><base href="{d}/">', marked: 'a.png', steps: img },
  { name: 'base without a slash', page: '<base href="{d}/file"><img src="a.png">', marked: 'a.png', steps: img },
  {
    name: 'base for a target alone',
    page: '<base target=_blank><img src="../f/base-for-a-target-alone/a.png">',
    marked: 'a.png',
    steps: img,
  },
  {
    name: 'base that is none',
    page: '<base href="data:,x"><img src="{d}/a.png">',
    marked: 'a.png',
    steps: [found(/img src="([^"]+)/)],
  },
  {
    name: 'noframes',
    page: '<!doctype html><html><frameset><noframes><a href="{d}/a.html">x</a></noframes></frameset></html>',
    marked: 'a.html',
    steps: [found(/<a href="([^"]+)/)],
  },
];
