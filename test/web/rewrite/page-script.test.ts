import { describe, expect, it } from 'vitest';
import { found, rewritten } from './helpers.ts';

/** The text of a script in a page, what is found in it beside mentions, and the text again with `N` for each address. */
const PROBES: readonly (readonly [name: string, script: string, found: readonly string[], rewritten: string])[] = [
  [
    'what is fetched',
    `fetch("/a.json").then(b);window.fetch('c/d',{cache:"no-store"});x.open("GET",'/e.txt',true)`,
    ['lazy /a.json', 'lazy c/d', 'lazy /e.txt'],
    `fetch("N").then(b);window.fetch('N',{cache:"no-store"});x.open("GET",'N',true)`,
  ],
  [
    'what elements load',
    `i.src='/a.png';i.src = \`b.png\`;new Audio("c.mp3");i.setAttribute("src", "https://x.test/d.js")`,
    ['lazy /a.png', 'lazy b.png', 'lazy c.mp3', 'lazy https://x.test/d.js'],
    `i.src='N';i.src = \`N\`;new Audio("N");i.setAttribute("src", "N")`,
  ],
  [
    'where it leads',
    `location="/a/";window.location.href = '/b';location.replace("../c");document.location.assign("./d");window.open("/e")`,
    ['link /a/', 'link /b', 'link ../c', 'link ./d', 'link /e'],
    `location="N";window.location.href = 'N';location.replace("N");document.location.assign("N");window.open("N")`,
  ],
  [
    'parts of addresses, left alone',
    `fetch("/a/"+b);i.src="/c".concat(d);location.href="/e?f="+g;fetch(\`/h/\${i}\`);fetch("/a\\x41b")`,
    [],
    `fetch("/a/"+b);i.src="/c".concat(d);location.href="/e?f="+g;fetch(\`/h/\${i}\`);fetch("/a\\x41b")`,
  ],
  [
    'what is sent, left alone',
    'fetch("/a/b",{credentials:"omit",method:"POST"});x.open("POST","/c/d");window.open("")',
    [],
    'fetch("/a/b",{credentials:"omit",method:"POST"});x.open("POST","/c/d");window.open("")',
  ],
  [
    'comments, strings, regular expressions and comparisons, left alone',
    `// fetch("/a/b")\nconst s='fetch("/c/d")';/fetch("\\/e\\/f")/;if(location.href=="/g/h"||i.src==='/i.png'){}`,
    [],
    `// fetch("/a/b")\nconst s='fetch("/c/d")';/fetch("\\/e\\/f")/;if(location.href=="/g/h"||i.src==='/i.png'){}`,
  ],
  [
    'what is no address, left alone',
    `i.src="data:image/gif;base64,AA";a.src="name";location="javascript:void(0)";fetch("{{ url }}/a")`,
    [],
    `i.src="data:image/gif;base64,AA";a.src="name";location="javascript:void(0)";fetch("{{ url }}/a")`,
  ],
  ['a script that does not parse, left alone', 'fetch("/a.txt"', [], 'fetch("/a.txt"'],
];

const withoutMentions = (html: string): string[] => found('html', html).filter((each) => !each.startsWith('mention '));

describe('findReferences() in the scripts of a page', () => {
  it.each(PROBES)('%s', (_, script, references, after) => {
    const page = (text: string) => `<script>${text}</script>`;
    expect(withoutMentions(page(script))).toEqual(references);
    expect(rewritten('html', page(script), 'N')).toBe(page(after));
  });

  it('reads what handlers of elements do', () => {
    const html = `<a onclick="location.href='/a?b&amp;c';return false" onmouseover='this.src="d.png"' on=x onload>`;
    expect(withoutMentions(html)).toEqual(['link /a?b&c', 'lazy d.png']);
    expect(rewritten('html', html, 'N&')).toBe(
      `<a onclick="location.href='N&amp;';return false" onmouseover='this.src="N&amp;"' on=x onload>`,
    );
  });

  it('takes none from a script in a file, which does not know its page', () => {
    expect(found('script', 'fetch("a/b");i.src="c.png"')).toEqual([]);
  });
});
