import { describe, expect, it } from 'vitest';
import { found, rewritten } from './helpers.ts';

/** Text of a script in a page, its references without mentions, and the text with `N` for each address. */
const PROBES: readonly (readonly [name: string, script: string, found: readonly string[], rewritten: string])[] = [
  [
    'fetched addresses',
    `fetch("/a.json").then(b);window.fetch('c/d',{cache:"no-store"});x.open("GET",'/e.txt',true)`,
    ['lazy /a.json', 'lazy c/d', 'lazy /e.txt'],
    `fetch("N").then(b);window.fetch('N',{cache:"no-store"});x.open("GET",'N',true)`,
  ],
  [
    'addresses that elements load',
    `i.src='/a.png';i.src = \`b.png\`;new Audio("c.mp3");i.setAttribute("src", "https://x.test/d.js")`,
    ['lazy /a.png', 'lazy b.png', 'lazy c.mp3', 'lazy https://x.test/d.js'],
    `i.src='N';i.src = \`N\`;new Audio("N");i.setAttribute("src", "N")`,
  ],
  [
    'addresses that the page opens',
    `location="/a/";window.location.href = '/b';location.replace("../c");document.location.assign("./d");window.open("/e")`,
    ['link /a/', 'link /b', 'link ../c', 'link ./d', 'link /e'],
    `location="N";window.location.href = 'N';location.replace("N");document.location.assign("N");window.open("N")`,
  ],
  [
    'parts of addresses, left unchanged',
    `fetch("/a/"+b);i.src="/c".concat(d);location.href="/e?f="+g;fetch(\`/h/\${i}\`);fetch("/a\\x41b")`,
    [],
    `fetch("/a/"+b);i.src="/c".concat(d);location.href="/e?f="+g;fetch(\`/h/\${i}\`);fetch("/a\\x41b")`,
  ],
  [
    'requests that send data, left unchanged',
    'fetch("/a/b",{credentials:"omit",method:"POST"});x.open("POST","/c/d");window.open("")',
    [],
    'fetch("/a/b",{credentials:"omit",method:"POST"});x.open("POST","/c/d");window.open("")',
  ],
  [
    'comments, strings, regular expressions and comparisons, left unchanged',
    `// fetch("/a/b")\nconst s='fetch("/c/d")';/fetch("\\/e\\/f")/;if(location.href=="/g/h"||i.src==='/i.png'){}`,
    [],
    `// fetch("/a/b")\nconst s='fetch("/c/d")';/fetch("\\/e\\/f")/;if(location.href=="/g/h"||i.src==='/i.png'){}`,
  ],
  [
    'strings that are not addresses, left unchanged',
    `i.src="data:image/gif;base64,AA";a.src="name";location="javascript:void(0)";fetch("{{ url }}/a")`,
    [],
    `i.src="data:image/gif;base64,AA";a.src="name";location="javascript:void(0)";fetch("{{ url }}/a")`,
  ],
  [
    'addresses that libraries receive',
    `$.getJSON("/a.json",b);jQuery.get('c/d');axios.get("./e");Redoc.init("../f.yaml",{});System.import("/g.js")`,
    ['lazy /a.json', 'lazy c/d', 'lazy ./e', 'lazy ../f.yaml', 'lazy /g.js'],
    `$.getJSON("N",b);jQuery.get('N');axios.get("N");Redoc.init("N",{});System.import("N")`,
  ],
  [
    'addresses of API descriptions, and no other member of that name',
    `s({url:"a.json",configUrl: 'b.yaml?c', "url" : "/d.yml",base_url:"/e",url:"/f/g"})`,
    ['lazy a.json', 'lazy b.yaml?c', 'lazy /d.yml'],
    `s({url:"N",configUrl: 'N', "url" : "N",base_url:"/e",url:"/f/g"})`,
  ],
  [
    'links that load a file, and no other link',
    `l.href="/a.css";l.href = 'b.png?c';l.href="/d.html";if(l.href=="/e.css"){}`,
    ['lazy /a.css', 'lazy b.png?c'],
    `l.href="N";l.href = 'N';l.href="/d.html";if(l.href=="/e.css"){}`,
  ],
  ['a script with a syntax error, left unchanged', 'fetch("/a.txt"', [], 'fetch("/a.txt"'],
];

const withoutMentions = (html: string): string[] => found('html', html).filter((each) => !each.startsWith('mention '));

describe('findReferences() in the scripts of a page', () => {
  it.each(PROBES)('returns the expected references and text for %s', (_, script, references, after) => {
    const page = (text: string) => `<script>${text}</script>`;
    expect(withoutMentions(page(script))).toEqual(references);
    expect(rewritten('html', page(script), 'N')).toBe(page(after));
  });

  it('reads the event handlers of elements', () => {
    const html = `<a onclick="location.href='/a?b&amp;c';return false" onmouseover='this.src="d.png"' on=x onload>`;
    expect(withoutMentions(html)).toEqual(['link /a?b&c', 'lazy d.png']);
    expect(rewritten('html', html, 'N&')).toBe(
      `<a onclick="location.href='N&amp;';return false" onmouseover='this.src="N&amp;"' on=x onload>`,
    );
  });

  it('reports data files that a script element names, and rewrites nothing', () => {
    const html =
      '<script>d3.json("../a.json");d3.csv("b.csv");play({src:`./c.cast`});x={"d.json":1};e("f"+".json");g("/h.yaml.x")</script>';
    expect(found('html', html)).toEqual(['mention ../a.json', 'mention b.csv', 'mention ./c.cast']);
    expect(rewritten('html', html)).toBe(html);
    expect(found('html', `<script>d3.json("../a.json");${' '.repeat(40_000)}</script>`)).toEqual([]);
  });

  it('reports files that an external script loads, except files relative to the page, and rewrites nothing', () => {
    const script = 'fetch("a/b");i.src="c.png";ui({url:"./d.json"});location="e.html";fetch("f.json"+g)';
    expect(found('script', script)).toEqual(['mention c.png', 'mention ./d.json']);
    expect(rewritten('script', script)).toBe(script);
  });

  it('limits the number of files that it reports for an external script', () => {
    const script = Array.from({ length: 1_000 }, (_, index) => `f({url:"${index}.json"})`).join(';');
    expect(found('script', script)).toHaveLength(500);
  });
});
