import type { OriginFile } from '../crawl/origin.ts';
import type { Probe } from './crawl-probe.ts';

const TEXT =
  'Some sixty words that are in the page as it comes so that nobody takes it for one that scripts have written '.repeat(
    3,
  );
const CORS = { 'access-control-allow-origin': '*' };
const JSON_TYPE = { type: 'application/json', headers: CORS };
/** What shows a text. It is put together, so that no mark stands in a script. */
const SHOW = 'const show=(t)=>{document.getElementById("o").textContent=t},ok="MARK-"+slug+"-"+"END";';

/** A page whose script, once it has got what it asks for, shows the mark. */
const run = (name: string, script: string, marked: string, more: Partial<Probe> = {}): Probe => ({
  name,
  page: `<!doctype html><title>x</title><p>${TEXT}</p><output id="o"></output><div id="end"></div><script>const slug="${name.replaceAll(' ', '-')}";${SHOW}${script}</script>`,
  marked,
  steps: [],
  ...(marked.endsWith('.json') ? { answer: JSON_TYPE } : {}),
  ...more,
});

const js = (body: string): OriginFile => ({ type: 'text/javascript', headers: CORS, body });

/** References that only a script can name, while it runs. */
export const RUNTIME_PROBES: readonly Probe[] = [
  run('fetch of a path', 'fetch("{d}/a.json").then(r=>r.json()).then(j=>show(j.mark))', 'a.json'),
  run(
    'fetch relative to the page',
    'fetch("../f/fetch-relative-to-the-page/"+"a.json").then(r=>r.json()).then(j=>show(j.mark))',
    'a.json',
  ),
  run(
    'fetch of a query',
    'const n="2";fetch("{d}/"+"a.json?n="+n).then(r=>r.json()).then(j=>show(j.mark))',
    'a.json?n=2',
    { answer: JSON_TYPE },
  ),
  run(
    'fetch without an extension',
    'fetch("{d}/api/"+["x","items"].join("/")).then(r=>r.json()).then(j=>show(j.mark))',
    'api/x/items',
    { answer: JSON_TYPE },
  ),
  run('fetch of the own origin', 'fetch("{site}{d}/a.json").then(r=>r.json()).then(j=>show(j.mark))', 'a.json'),
  run('fetch of another origin', 'fetch("{c}/a.json").then(r=>r.json()).then(j=>show(j.mark))', 'c:a.json'),
  run(
    'fetch that is late',
    'setTimeout(()=>fetch("{d}/"+"a.json").then(r=>r.json()).then(j=>show(j.mark)),100)',
    'a.json',
  ),
  run(
    'fetch after a fetch',
    'fetch("{d}/b.json").then(r=>r.json()).then(b=>fetch(b.next)).then(r=>r.json()).then(j=>show(j.mark))',
    'a.json',
    { files: { 'b.json': '{"next":"{d}/a.json"}' } },
  ),
  run('fetch in a module', '', 'a.json', {
    page: `<!doctype html><title>x</title><p>${TEXT}</p><output id="o"></output><script type="module" src="{d}/m.js"></script>`,
    files: {
      'm.js': js(
        'const r = await fetch(new URL("a" + ".json", import.meta.url)); document.getElementById("o").textContent = (await r.json()).mark;',
      ),
    },
  }),
  run(
    'xmlhttprequest',
    'const x=new XMLHttpRequest();x.open("GET","{d}/a"+".json");x.onload=()=>show(JSON.parse(x.responseText).mark);x.send()',
    'a.json',
  ),
  run(
    'created image',
    'const i=new Image();i.onload=()=>show(ok);i.src="{d}/"+"a.svg";document.body.append(i)',
    'a.svg',
  ),
  run('created image of another origin', 'const i=new Image();i.onload=()=>show(ok);i.src="{c}/"+"a.svg"', 'c:a.svg'),
  run(
    'image when it is seen',
    'document.getElementById("end").style.cssText="margin-top:4000px;height:9px";const i=new Image();i.onload=()=>show(ok);new IntersectionObserver((e,o)=>{if(e[0].isIntersecting){o.disconnect();i.src="{d}/"+"a.svg"}}).observe(document.getElementById("end"))',
    'a.svg',
  ),
  run('lazy image far below', '', 'a.svg', {
    page: `<!doctype html><title>x</title><p>${TEXT}</p><output id="o"></output><div style="height:9000px"></div><script>const slug="lazy-image-far-below";${SHOW}const i=new Image();i.loading="lazy";i.width=i.height=9;i.onload=()=>show(ok);i.src="{d}/"+"a.svg";document.body.append(i)</script>`,
  }),
  run(
    'part that is loaded on scrolling',
    'document.getElementById("end").style.marginTop="3000px";addEventListener("scroll",()=>fetch("{d}/"+"a.json").then(r=>r.json()).then(j=>show(j.mark)),{once:true})',
    'a.json',
  ),
  run(
    'background of a style',
    'document.getElementById("end").style.cssText="height:9px;background:url({d}/"+"a.svg)";const i=new Image();i.onload=()=>show(ok);i.src="{d}/"+"a.svg"',
    'a.svg',
  ),
  run(
    'inserted style sheet',
    'const l=document.createElement("link");l.rel="stylesheet";l.onload=()=>show(ok);l.href="{d}/"+"a.css";document.head.append(l)',
    'a.css',
  ),
  run(
    'rule of a made style sheet',
    'const s=new CSSStyleSheet();s.replaceSync("#end{height:9px;background:url({d}/"+"a.svg)}");document.adoptedStyleSheets=[s];const i=new Image();i.onload=()=>show(ok);i.src="{d}/"+"a.svg"',
    'a.svg',
  ),
  run(
    'inserted script',
    'const s=document.createElement("script");s.onload=()=>show(ok);s.src="{d}/"+"a.js";document.head.append(s)',
    'a.js',
  ),
  run(
    'written script',
    'document.write("<scr"+"ipt src={d}/a"+".js></scr"+"ipt>");addEventListener("load",()=>show(ok))',
    'a.js',
  ),
  run('import of a name that is made', 'const n="a";import("{d}/"+n+".js").then(()=>show(ok))', 'a.js'),
  run('worker of a name that is made', 'const w=new Worker("{d}/"+"w.js");w.onmessage=(e)=>show(e.data)', 'a.json', {
    files: { 'w.js': js('fetch("a" + ".json").then((r) => r.json()).then((j) => postMessage(j.mark));') },
  }),
  run(
    'made frame',
    'const f=document.createElement("iframe");f.onload=()=>show(ok);f.src="{d}/"+"a.html";document.body.append(f)',
    'a.html',
  ),
  run(
    'font by its name',
    'new FontFace("F","url({d}/"+"a.woff2)").load().catch(()=>0).finally(()=>show(ok))',
    'a.woff2',
  ),
  run(
    'path in json of the page',
    'const c=JSON.parse(\'{"data":"{d}/a.json"}\');fetch(c.data).then(r=>r.json()).then(j=>show(j.mark))',
    'a.json',
  ),
  run(
    'custom element',
    'customElements.define("x-y",class extends HTMLElement{connectedCallback(){fetch(this.getAttribute("from")).then(r=>r.json()).then(j=>show(j.mark))}});const e=document.createElement("x-y");e.setAttribute("from","{d}/"+"a.json");document.body.append(e)',
    'a.json',
  ),
  run(
    'link that is made',
    'const a=document.createElement("a");a.href="{d}/"+"a.html";a.textContent="on";document.body.append(a);show(ok)',
    'a.html',
  ),
];

/** Pages that are nothing without their scripts. */
export const CLIENT_PROBES: readonly Probe[] = [
  {
    name: 'page that a script writes',
    page: '<!doctype html><title>x</title><div id="app"></div><script src="{d}/app.js"></script>',
    marked: null,
    steps: [],
    files: {
      'app.js': js(
        'document.getElementById("app").innerHTML = "<h1>MARK-page-that-" + "a-script-writes-END</h1><p>All of this text is written by a script, <a href={d}/next>and so is this link</a>.</p>"',
      ),
      next: { type: 'text/html', body: '<p>next' },
    },
  },
  {
    name: 'page that a script writes of data',
    page: '<!doctype html><title>x</title><div id="app"></div><script>fetch("{d}/"+"a.json").then(r=>r.json()).then(j=>{document.getElementById("app").innerHTML="<article>"+j.mark+" and more text of the page</article>"})</script>',
    marked: 'a.json',
    answer: JSON_TYPE,
    steps: [],
  },
];
