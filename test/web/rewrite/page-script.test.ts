import { describe, expect, it } from 'vitest';
import { found, probeOf, rewritten } from './helpers.ts';

/** Scripts in a page, whose references include no mentions. */
const PROBES: readonly (readonly [name: string, marked: string])[] = [
  [
    'fetched addresses',
    `fetch("«lazy /a.json»").then(b);window.fetch('«lazy c/d»',{cache:"no-store"});x.open("GET",'«lazy /e.txt»',true)`,
  ],
  [
    'addresses that elements load',
    `i.src='«lazy /a.png»';i.src = \`«lazy b.png»\`;new Audio("«lazy c.mp3»");i.setAttribute("src", "«lazy https://x.test/d.js»")`,
  ],
  [
    'addresses that the page opens',
    `location="«link /a/»";window.location.href = '«link /b»';location.replace("«link ../c»");document.location.assign("«link ./d»");window.open("«link /e»")`,
  ],
  [
    'parts of addresses, left unchanged',
    `fetch("/a/"+b);i.src="/c".concat(d);location.href="/e?f="+g;fetch(\`/h/\${i}\`);fetch("/a\\x41b")`,
  ],
  [
    'requests that send data, left unchanged',
    'fetch("/a/b",{credentials:"omit",method:"POST"});x.open("POST","/c/d");window.open("")',
  ],
  [
    'comments, strings, regular expressions and comparisons, left unchanged',
    `// fetch("/a/b")\nconst s='fetch("/c/d")';/fetch("\\/e\\/f")/;if(location.href=="/g/h"||i.src==='/i.png'){}`,
  ],
  [
    'strings that are not addresses, left unchanged',
    'i.src="data:image/gif;base64,AA";a.src="name";location="javascript:void(0)";fetch("{{ url }}/a")',
  ],
  [
    'addresses of API descriptions, and no other member of that name',
    `s({url:"«lazy a.json»",configUrl: '«lazy b.yaml?c»', "url" : "«lazy /d.yml»",base_url:"/e",url:"/f/g"})`,
  ],
  [
    'links that load a file, and no other link',
    `l.href="«lazy /a.css»";l.href = '«lazy b.png?c»';l.href="/d.html";if(l.href=="/e.css"){}`,
  ],
  [
    'addresses that libraries receive',
    `$.getJSON("«lazy /a.json»",b);jQuery.get('«lazy c/d»');axios.get("«lazy ./e»");Redoc.init("«lazy ../f.yaml»",{});System.import("«lazy /g.js»")`,
  ],
  ['a script with a syntax error, left unchanged', 'fetch("/a.txt"'],
];

const withoutMentions = (html: string): string[] => found('html', html).filter((each) => !each.startsWith('mention '));

describe('findReferences() in the scripts of a page', () => {
  it.each(PROBES)('returns exactly the references in a script, and rewriteFile() replaces them: %s', (_, marked) => {
    const { text, references, after } = probeOf(`<script>${marked}</script>`);
    expect(withoutMentions(text)).toEqual(references);
    expect(rewritten('html', text, 'N')).toBe(after);
  });

  it('reads the event handlers of elements', () => {
    const html = `<a onclick="location.href='/a?b&amp;c';return false" onmouseover='this.src="d.png"' on=x onload>`;
    expect(withoutMentions(html)).toEqual(['link /a?b&c', 'lazy d.png']);
    expect(rewritten('html', html, 'N&')).toBe(
      `<a onclick="location.href='N&amp;';return false" onmouseover='this.src="N&amp;"' on=x onload>`,
    );
  });

  it('returns data files that a script element names, and rewrites nothing', () => {
    const html =
      '<script>d3.json("../a.json");d3.csv("b.csv");play({src:`./c.cast`});x={"d.json":1};e("f"+".json");g("/h.yaml.x")</script>';
    expect(found('html', html)).toEqual(['mention ../a.json', 'mention b.csv', 'mention ./c.cast']);
    expect(rewritten('html', html)).toBe(html);
    expect(found('html', `<script>d3.json("../a.json");${' '.repeat(40_000)}</script>`)).toEqual([]);
  });

  it('returns files that an external script loads, except files relative to the page, and rewrites nothing', () => {
    const script = 'fetch("a/b");i.src="c.png";ui({url:"./d.json"});location="e.html";fetch("f.json"+g)';
    expect(found('script', script)).toEqual(['mention c.png', 'mention ./d.json']);
    expect(rewritten('script', script)).toBe(script);
  });

  it('limits the number of returned files for an external script', () => {
    const script = Array.from({ length: 1_000 }, (_, index) => `f({url:"${index}.json"})`).join(';');
    expect(found('script', script)).toHaveLength(500);
  });
});
