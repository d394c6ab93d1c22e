import { at, found, foundIn, known, mapped, type Probe } from './crawl-probe.ts';

const JS = { type: 'text/javascript' } as const;
const script = at('script', 'src');
const STRING = /["'`]([^"'`]+)["'`]/;

/** An inline module that names the marked file. */
const inline = (name: string, body: string, marked: string, pattern: RegExp, more: Partial<Probe> = {}): Probe => ({
  name: `js ${name}`,
  page: `<script type="module">${body}</script>`,
  marked,
  steps: [found(pattern)],
  ...more,
});

/** A script file of the probe's folder that names the marked one. */
const scripted = (name: string, body: string, marked: string, pattern = STRING, more: Partial<Probe> = {}): Probe => ({
  name: `js ${name}`,
  page: '<script type="module" src="{d}/s.js"></script>',
  marked,
  steps: [script, found(pattern)],
  ...more,
  files: { 's.js': { ...JS, body }, ...more.files },
});

/** References in scripts that can be read without running them. */
export const SCRIPT_PROBES: readonly Probe[] = [
  { name: 'script src', page: '<script async src="{c}/a.js"></script>', marked: 'c:a.js', steps: [script] },
  { name: 'script nomodule', page: '<script nomodule defer src="{d}/a.js"></script>', marked: 'a.js', steps: [script] },
  {
    name: 'script without an extension',
    page: '<script src="{d}/npm/lib@3"></script>',
    marked: 'npm/lib@3',
    answer: JS,
    served: 'text/javascript',
    steps: [script],
  },
  {
    name: 'script sent as text',
    page: '<script type=module src="{d}/s.js"></script>',
    marked: 'a.js',
    files: { 's.js': { type: 'text/plain', body: 'import "./a.js"' } },
    answer: { type: 'text/plain' },
    steps: [script, found(STRING)],
  },
  inline('import', 'import a from "{d}/a.js"; a()', 'a.js', /from "([^"]+)/),
  inline('import for its effect', "import '{c}/a.js'", 'c:a.js', /import '([^']+)/),
  inline('export from', 'export * from "{d}/a.js"', 'a.js', /from "([^"]+)/),
  inline('dynamic import', 'button.onclick=()=>import("{d}/a.js")', 'a.js', /import\("([^"]+)/),
  inline('dynamic import of a template', 'const m=await import(`{d}/a.js`)', 'a.js', /import\(`([^`]+)/),
  inline('import of json', 'import d from "{d}/a.json" with {type:"json"}', 'a.json', /from "([^"]+)/),
  inline('import of css', 'import d from "{d}/a.css" with {type:"css"}', 'a.css', /from "([^"]+)/),
  scripted('import in a file', 'import {a} from "./lib/../a.js"', 'a.js'),
  scripted('import of another origin', 'export {a} from "{c}/a.js"', 'c:a.js'),
  scripted('imports minified', 'import{a as b}from"./b.js";import"./a.js";b()', 'a.js', /import"([^"]+)/, {
    files: { 'b.js': { ...JS, body: 'export const a=()=>{}' } },
  }),
  scripted('imports of imports', 'import "./b.js"', 'a.js', STRING, {
    files: { 'b.js': { ...JS, body: 'import("./a.js")' } },
    steps: [script, found(STRING), found(STRING)],
  }),
  scripted('import without an extension', 'import "./a?v=1"', 'a?v=1', STRING, {
    answer: JS,
    served: 'text/javascript',
  }),
  scripted('new url', 'img.src = new URL("./a.png", import.meta.url).href', 'a.png'),
  scripted('new url in single quotes', "const u = new URL( 'sub/a.wasm' , import.meta.url )", 'sub/a.wasm'),
  scripted('import meta resolve', 'const u = import.meta.resolve("./a.js")', 'a.js'),
  scripted('worker by new url', 'new Worker(new URL("./w.js", import.meta.url), {type:"module"})', 'a.js', STRING, {
    files: { 'w.js': { ...JS, body: 'import "./a.js"' } },
    steps: [script, found(STRING), found(STRING)],
  }),
  scripted('shared worker', 'new SharedWorker(new URL("./a.js", import.meta.url))', 'a.js'),
  {
    name: 'js worker of a classic script',
    page: '<script>const w = new Worker("{d}/a.js")</script>',
    marked: 'a.js',
    steps: [found(/Worker\("([^"]+)/)],
  },
  {
    name: 'js importscripts',
    page: '<script>new Worker("{d}/w.js")</script>',
    marked: 'a.js',
    files: {
      'w.js': { ...JS, body: 'importScripts("b.js", \'a.js\'); onmessage=()=>{}' },
      'b.js': { ...JS, body: '1' },
    },
    steps: [found(/Worker\("([^"]+)/), found(/'([^']+)/)],
  },
  {
    name: 'js service worker',
    page: '<script>navigator.serviceWorker.register("{d}/a.js",{scope:"/"})</script>',
    marked: 'a.js',
    steps: [found(/register\("([^"]+)/)],
  },
  {
    name: 'js worklet',
    page: '<script>CSS.paintWorklet.addModule("{d}/a.js")</script>',
    marked: 'a.js',
    steps: [found(/addModule\("([^"]+)/)],
  },
  {
    name: 'import map',
    page: '<script type="importmap">{"imports":{"lib":"{d}/a.js"}}</script><script type=module>import "lib"</script>',
    marked: 'a.js',
    steps: [mapped('lib')],
  },
  {
    name: 'import map of another origin',
    page: '<script type="importmap">{"imports":{"lib":"{c}/b.js"}}</script><script type=module>import "lib"</script>',
    marked: 'c:a.js',
    files: { 'c:b.js': { ...JS, body: 'export * from "./a.js"' } },
    steps: [mapped('lib'), found(STRING)],
  },
  {
    name: 'import map with a folder',
    page: '<script type="importmap">{"imports":{"lib/":"{d}/lib/"}}</script><script type=module>import "lib/a.js"</script>',
    marked: 'lib/a.js',
    steps: [mapped('lib/', 'a.js')],
  },
  {
    name: 'import map and a script file',
    page: '<script type="importmap">{"imports":{"lib":"{d}/a.js"}}</script><script type=module src="{d}/s.js"></script>',
    marked: 'a.js',
    files: { 's.js': { ...JS, body: 'import "lib"' } },
    steps: [mapped('lib')],
  },
  {
    name: 'import map with a scope',
    page: '<script type="importmap">{"imports":{},"scopes":{"{d}/":{"lib":"{d}/a.js"}}}</script><script type=module src="{d}/s.js"></script>',
    marked: 'a.js',
    files: { 's.js': { ...JS, body: 'import "lib"' } },
    steps: [found(/"lib":"([^"]+)/)],
  },
  {
    name: 'script that fetches',
    page: '<script>fetch("{d}/a"+".json");fetch("{c}/a.json").then(r=>r.json())</script>',
    marked: 'c:a.json',
    steps: [found(/fetch\("([^"]+)"\)/)],
  },
  {
    name: 'script that fetches of its own origin',
    page: '<script type=module>const r=await fetch("{site}{d}/a.txt")</script>',
    marked: 'a.txt',
    steps: [found(/fetch\("([^"]+)/)],
  },
  {
    name: 'script that makes an image',
    page: '<script>const i=new Image();i.src="{c}/a.png"</script>',
    marked: 'c:a.png',
    steps: [found(/src="([^"]+)/)],
  },
  {
    name: 'script that leads on',
    page: '<script>location.replace("{d}/a?b=1")</script>',
    marked: 'a?b=1',
    answer: { type: 'text/html' },
    served: 'text/html',
    steps: [found(/replace\("([^"]+)/)],
  },
  {
    name: 'handler that leads on',
    page: `<button onclick="window.location.href='{d}/a'">x</button>`,
    marked: 'a',
    answer: { type: 'text/html' },
    served: 'text/html',
    steps: [foundIn('button', 'onclick', /'([^']+)/)],
  },
  {
    name: 'handler that changes a picture',
    page: `<img src="data:," onmouseover="this.src='{d}/a.png'">`,
    marked: 'a.png',
    steps: [foundIn('img', 'onmouseover', /'([^']+)/)],
  },
  {
    name: 'astro island',
    page: '<astro-island component-url="{d}/a.js" renderer-url="{d}/b.js"></astro-island>',
    marked: 'a.js',
    files: { 'b.js': { ...JS, body: '1' } },
    steps: [at('astro-island', 'component-url')],
  },
  {
    name: 'next data',
    page: '<script id="__NEXT_DATA__" type="application/json">{"buildId":"b1"}</script>',
    marked: '/_next/data/b1/probe/next-data.json',
    steps: [known('/_next/data/b1/probe/next-data.json')],
  },
  {
    name: 'next chunks',
    page: `<script src="/_next/static/chunks/main.js"></script><script>self.__next_f.push([1,"3:I[1,[\\"12\\",\\"static/chunks/late-a.js\\"],\\"x\\"]"])</script>`,
    marked: '/_next/static/chunks/late-a.js',
    files: { '/_next/static/chunks/main.js': { ...JS, body: '1' } },
    steps: [known('/_next/static/chunks/late-a.js')],
  },
  {
    name: 'next payload',
    page: '<script>self.__next_f.push([0])</script>',
    marked: '/probe/next-payload.txt',
    steps: [known('/probe/next-payload.txt')],
  },
  {
    name: 'nuxt payload',
    page: '<script>window.__NUXT__={}</script>',
    marked: '/probe/nuxt-payload/_payload.json',
    steps: [known('/probe/nuxt-payload/_payload.json')],
  },
  {
    name: 'vite dependencies',
    page: '<script type=module src="/assets/entry.js"></script>',
    marked: '/assets/late-a.css',
    files: {
      '/assets/entry.js': {
        ...JS,
        body: 'const __vite__mapDeps=(i,m=__vite__mapDeps,d=(m.f||(m.f=["assets/late-a.css"])))=>i;',
      },
    },
    steps: [known('/assets/late-a.css')],
  },
  {
    name: 'script that gets by a library',
    page: '<script>$.getJSON("{d}/a.json", show)</script>',
    marked: 'a.json',
    steps: [found(/getJSON\("([^"]+)/)],
  },
  {
    name: 'script that shows an api',
    page: '<script>SwaggerUIBundle({ urls: [{ "url": "../f/script-that-shows-an-api/a.yaml", name: "x" }] })</script>',
    marked: 'a.yaml',
    steps: [found(/"url": "([^"]+)/)],
  },
  {
    name: 'script that adds a style sheet',
    page: `<script>const l=document.createElement("link");l.rel="stylesheet";l.href='{d}/a.css';document.head.append(l)</script>`,
    marked: 'a.css',
    steps: [found(/l\.href='([^']+)/)],
  },
];
