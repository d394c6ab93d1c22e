import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalName } from '../../src/archive/rules.ts';
import { assignNames } from '../../src/crawl/names.ts';
import { ARCHIVE_LIMITS } from '../../src/domain/limits.ts';
import { resolvePath } from '../../src/web/resolve.ts';
import { encodePath } from '../../src/web/rewrite/write.ts';

const ORIGIN = 'http://docs.test';
const HTML = 'text/html';

/** Paths of addresses with different content, unless `content` is set. */
function namesOf(
  answers: readonly (readonly [url: string, type?: string, content?: string])[],
  usedNames: string[] = [],
) {
  const files = answers.map(([path, type = HTML, content = path]) => ({
    url: new URL(path, ORIGIN).href,
    type,
    sha256: content,
  }));
  const names = assignNames(files, ORIGIN, usedNames);
  return files.map(({ url }) => names.get(url));
}

describe('assignNames() (file names for crawled addresses)', () => {
  it.each([
    ['/', HTML, 'index.html'],
    ['/a', HTML, 'a.html'],
    ['/a/', HTML, 'a/index.html'],
    ['/a.html', HTML, 'a.html'],
    ['/a.htm', HTML, 'a.htm'],
    ['/v1.2', HTML, 'v1.2.html'],
    ['/page.php', HTML, 'page.php.html'],
    ['/llms.txt', HTML, 'llms.txt.html'],
    ['/page.html', 'text/plain', 'page.html.txt'],
    ['/x', 'application/xhtml+xml', 'x.xhtml'],
    ['/style', 'text/css', 'style.css'],
    ['/style.css', 'text/css', 'style.css'],
    ['/style.php', 'text/css', 'style.php.css'],
    ['/app', 'application/x-javascript', 'app.js'],
    ['/app.mjs', 'application/javascript', 'app.mjs'],
    ['/x.ts', 'text/javascript', 'x.ts.js'],
    ['/x.ts', 'video/mp2t', 'x.ts'],
    ['/logo', 'image/svg+xml', 'logo.svg'],
    ['/photo', 'image/jpeg', 'photo.jpg'],
    ['/image.php', 'image/png', 'image.php.png'],
    ['/photo.png', 'image/webp', 'photo.png'],
    ['/font.woff', 'application/font-woff', 'font.woff'],
    ['/font.woff2', 'application/octet-stream', 'font.woff2'],
    ['/data', 'application/octet-stream', 'data'],
    ['/data', '', 'data'],
    ['/api/list', 'application/json', 'api/list.json'],
    ['/feed/', 'application/rss+xml', 'feed/index.rss'],
    ['/LICENSE', 'text/plain', 'LICENSE'],
    ['/LICENSE', 'text/html', 'LICENSE.html'],
    ['/guide.md', 'text/plain', 'guide.md'],
    ['/%E3%81%82', HTML, 'あ.html'],
    ['/a%20b', HTML, 'a b.html'],
    ['/a%2Fb', HTML, 'a_b.html'],
    ['/a%00b', HTML, 'a_b.html'],
    ['/a%5C..%5Cb', HTML, 'a_.._b.html'],
    ['/%E0%A4', HTML, '%E0%A4.html'],
    ['/a:b*c', HTML, 'a_b_c.html'],
    ['/con', HTML, '_con.html'],
    ['/lib/NUL.txt', 'text/plain', 'lib/_NUL.txt'],
    ['/console', HTML, 'console.html'],
    ['/dots.', 'image/png', 'dots_.png'],
    ['/a//b', HTML, 'a/_/b.html'],
    ['/.hidden/x', HTML, '_.hidden/x.html'],
    ['/.well-known/x', HTML, '.well-known/x.html'],
    ['/a/.well-known/x', HTML, 'a/_.well-known/x.html'],
    ['/_docshelf/x', HTML, '__docshelf/x.html'],
    ['/Start%20Docs', HTML, '_Start Docs.html'],
    ['http://cdn.test/f/x.woff2', 'font/woff2', '_external/cdn.test/f/x.woff2'],
    ['http://cdn.test:8080/x.css', 'text/css', '_external/cdn.test_8080/x.css'],
  ])('assigns to the address %s with content type %s the file name %s', (url, type, path) => {
    expect(namesOf([[url, type]])).toEqual([path]);
  });

  it('assigns a.html to the page /a even if a folder a exists', () => {
    expect(namesOf([['/a'], ['/a/b'], ['/a/']])).toEqual(['a.html', 'a/b.html', 'a/index.html']);
  });

  it('assigns a separate file name to each query of a page', () => {
    expect(namesOf([['/list?page=2'], ['/list'], ['/list?q=a%20b']])).toEqual([
      'list@page=2.html',
      'list.html',
      expect.stringMatching(/^list@[0-9a-f]{12}\.html$/),
    ]);
    expect(namesOf([['/s.css?v=1', 'text/css']])).toEqual(['s.css']);
  });

  it('lets addresses with the same name share a file if their content is the same', () => {
    expect(
      namesOf([
        ['/', HTML, 'same'],
        ['/index.html', HTML, 'same'],
        ['/index.html?x', HTML, 'same'],
      ]),
    ).toEqual(Array(3).fill('index.html'));
    const [first, second] = namesOf([['/a'], ['/a.html']]);
    expect(first).toBe('a.html');
    expect(second).toMatch(/^a-[0-9a-f]{8}\.html$/);
  });

  it('assigns different names to addresses that differ only in case or Unicode form', () => {
    const [upper, lower] = namesOf([['/Guide'], ['/guide']]);
    expect(upper).toMatch(/^Guide-[0-9a-f]{8}\.html$/);
    expect(lower).toBe('guide.html');
    const [composed, decomposed] = namesOf([['/%C3%A9'], ['/e%CC%81']]);
    expect(composed).not.toBe(decomposed);
  });

  it('renames a file if a folder needs its name', () => {
    expect(namesOf([['/a.html'], ['/a.html/b']])).toEqual([
      expect.stringMatching(/^a-[0-9a-f]{8}\.html$/),
      'a.html/b.html',
    ]);
  });

  it('assigns another name if the export already contains a file with the usual name', () => {
    expect(namesOf([['/404']], ['404.html'])).toEqual([expect.stringMatching(/^404-[0-9a-f]{8}\.html$/)]);
  });

  it('returns valid and unique names, whatever the order of the addresses', () => {
    const segment = fc.oneof(
      fc.constantFrom('a', 'A', 'a.html', '%2e%2e', 'con', '..%2f', '%00', 'x'.repeat(400), '.git', 'é', 'e\u0301', ''),
      fc.string({ maxLength: 12, unit: 'binary' }),
    );
    const path = fc.array(segment, { maxLength: 60 }).map((parts) => `/${parts.join('/')}`);
    const type = fc.constantFrom(HTML, 'text/css', 'image/png', '', 'application/json');
    fc.assert(
      fc.property(fc.array(fc.tuple(path, type), { minLength: 1, maxLength: 12 }), (drawn) => {
        const files = drawn.flatMap(([text, type]) => {
          const url = URL.parse(text, ORIGIN);
          return url?.protocol === 'http:'
            ? [{ url: url.href.replace(/#.*/s, ''), type, sha256: url.href + type }]
            : [];
        });
        const unique = [...new Map(files.map((file) => [file.url, file])).values()];
        const names = assignNames(unique, ORIGIN);
        expect(assignNames(unique.toReversed(), ORIGIN)).toEqual(names);
        const folded = new Set<string>();
        for (const [url, name] of names) {
          const refuse = (code: string): never => {
            throw new Error(`${url} -> ${name}: ${code}`);
          };
          expect(canonicalName(name, ARCHIVE_LIMITS, refuse as never)).toBe(name);
          expect(Buffer.byteLength(name)).toBeLessThan(1024);
          folded.add(name.toLowerCase());
          const decoded = decodeURIComponent(new URL(encodePath(name), `${ORIGIN}/`).pathname).slice(1);
          expect(resolvePath(new Set(names.values()), decoded, 'never')).toEqual({ kind: 'file', path: name });
        }
        expect(folded.size).toBe(names.size);
      }),
      { numRuns: 300 },
    );
  });
});
