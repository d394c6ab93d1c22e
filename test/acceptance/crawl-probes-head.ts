import { at, found, type Probe } from './crawl-probe.ts';

const link = [at('link', 'href')];
const URL_IN_CSS = /url\(["']?([^"')]+)/;

/** What the head of a page loads ahead, its icons and its manifest. */
export const HEAD_PROBES: readonly Probe[] = [
  {
    name: 'preload font',
    page: '<link rel="preload" as="font" crossorigin href="{c}/a.woff2">',
    marked: 'c:a.woff2',
    steps: link,
  },
  {
    name: 'preload style',
    page: '<link rel=preload as=style href="{d}/b.css">',
    marked: 'a.png',
    files: { 'b.css': 'x{background:url(a.png)}' },
    steps: [...link, found(URL_IN_CSS)],
  },
  { name: 'preload fetch', page: '<link rel=preload as=fetch href="{d}/a.json">', marked: 'a.json', steps: link },
  {
    name: 'modulepreload',
    page: '<link rel="modulepreload" href="{d}/b.mjs">',
    marked: 'a.mjs',
    files: { 'b.mjs': { type: 'text/javascript', body: 'import "./a.mjs"' } },
    answer: { type: 'text/javascript' },
    steps: [...link, found(/"([^"]+)/)],
  },
  { name: 'prefetch', page: '<link rel="prefetch" href="{d}/a.js">', marked: 'a.js', steps: link },
  { name: 'icon', page: '<link rel="shortcut icon" href="{d}/a.ico">', marked: 'a.ico', steps: link },
  {
    name: 'apple touch icon',
    page: '<link rel="apple-touch-icon-precomposed" sizes=180x180 href="{d}/a.png">',
    marked: 'a.png',
    steps: link,
  },
  { name: 'mask icon', page: '<link rel="mask-icon" href="{d}/a.svg" color=red>', marked: 'a.svg', steps: link },
  {
    name: 'manifest icon',
    page: '<link rel="manifest" href="{d}/b.webmanifest">',
    marked: 'a.png',
    files: { 'b.webmanifest': '{"icons":[{"src":"a.png","sizes":"1x1"}]}' },
    steps: [...link, found(/"src":"([^"]+)/)],
  },
  {
    name: 'manifest sent as json',
    page: '<link rel="manifest" href="{d}/manifest.json" crossorigin=use-credentials>',
    marked: 'a.png',
    files: { 'manifest.json': '{"name":"x","screenshots":[{"src":"\\/f\\/manifest-sent-as-json\\/a.png"}]}' },
    steps: [...link, found(/"src":"([^"]+)/)],
  },
];
