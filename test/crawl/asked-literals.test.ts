import { describe, expect, it } from 'vitest';
import { AskedLiterals } from '../../src/crawl/pages/page-work.ts';
import { Scope } from '../../src/crawl/scope.ts';
import { spliceBytes } from '../../src/web/rewrite/write.ts';

const scope = new Scope({ origin: 'http://127.0.0.1:8080', prefix: '/', hosts: ['docs.acme.dev'] });
const PATHS = new Map([
  ['http://127.0.0.1:8080/api/data', 'api/data'],
  ['http://127.0.0.1:8080/other', 'other.html'],
  ['https://cdn.test/a%20b.json', '_external/cdn.test/a b.json'],
  ['https://cdn.test/img/1.svg', '_external/cdn.test/img/1.svg'],
]);
const ASKED = ['http://127.0.0.1:8080/api/data', 'https://cdn.test/a%20b.json', 'https://cdn.test/img/1.svg'];

/** Placeholder in a template literal. */
const FILLED = ['$', '{n}'].join('');

function written(text: string): string {
  const edits = new AskedLiterals(ASKED, PATHS, scope).editsIn(text);
  return Buffer.from(spliceBytes(Buffer.from(text), edits)).toString();
}

describe('AskedLiterals (addresses in string literals of a page)', () => {
  it.each([
    ['fetch("https://docs.acme.dev/api/data")', 'fetch("/api/data")'],
    ["fetch('http://127.0.0.1:8080/api/data#x')", "fetch('/api/data#x')"],
    ['<x-list from="https://cdn.test/img/1.svg">', '<x-list from="/_external/cdn.test/img/1.svg">'],
    ['fetch("https://cdn.test/a%20b.json")', 'fetch("/_external/cdn.test/a%20b.json")'],
    ['i.src = "https://cdn.test/img/" + n + ".svg"', 'i.src = "/_external/cdn.test/img/" + n + ".svg"'],
    [`i.src = \`https://cdn.test/img/${FILLED}.svg\``, `i.src = \`/_external/cdn.test/img/${FILLED}.svg\``],
    ['fetch("https://docs.acme.dev" + path)', 'fetch("" + path)'],
  ])(
    'replaces the address in the page source %s by the path of the exported file, because the browser requested this address',
    (text, expected) => {
      expect(written(text)).toBe(expected);
    },
  );

  it.each([
    'const home = "https://docs.acme.dev/other"',
    'const base = "https://cdn.test"',
    'new URL("a.json", "https://cdn.test/")',
    'i.src = "https://cdn.test/fonts/" + n',
    '// see https://cdn.test/img/1.svg',
    'const other = "https://cdn.test.evil/img/" + n',
    'const text = "https://cdn.test/img/1.svg is a picture"',
    '<meta property="og:image" content="https://cdn.test/img/1.svg">',
  ])('does not change the page source %s, because no string literal in it is a requested address', (text) => {
    expect(written(text)).toBe(text);
  });
});
