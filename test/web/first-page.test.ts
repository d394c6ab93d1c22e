import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readFirstPage } from '../../src/web/first-page.ts';

const page = (head: string, attributes = '') =>
  `<!doctype html><html ${attributes}><head>${head}</head><body></body></html>`;

describe('readFirstPage(), title', () => {
  it.each([
    ['Acme', '', 'Acme'],
    ['Getting to know Acme | Acme Docs', '', 'Getting to know Acme'],
    ['PostgreSQL 15.20 Documentation', '', 'PostgreSQL 15.20 Documentation'],
    ['Welcome — Sphinx documentation', '', 'Sphinx documentation'],
    ['Home - Acme Docs', '', 'Acme Docs'],
    ['Acme Docs - Home', '', 'Acme Docs'],
    ['Tutorial - Basics', '', 'Tutorial - Basics'],
    ['Tutorial - Acme', 'Acme', 'Tutorial'],
    ['Acme | The shelf', 'Acme', 'The shelf'],
    ['Introduction', 'Acme', 'Acme'],
    ['Introduction', '', 'Introduction'],
    ['A | B | C', '', 'A | B'],
    ['  of \n two\tlines ', '', 'of two lines'],
    ['Tom &amp; Jerry &lt;3 &copy', '', 'Tom & Jerry <3 ©'],
    ['<b>bold</b>', '', '<b>bold</b>'],
  ])('reads from %j with the site name %j the title %j', (title, siteName, expected) => {
    const meta = siteName === '' ? '' : `<meta property="og:site_name" content="${siteName}">`;
    expect(readFirstPage(page(`${meta}<title>${title}</title>`)).title).toBe(expected);
  });

  it('is the first title of the document, not a title in an image or in a script', () => {
    const html = page(
      '<script>"<title>no</title>"</script><svg><title>Icon</title></svg><title>Yes</title><title>No</title>',
    );
    expect(readFirstPage(html).title).toBe('Yes');
  });

  it('is og:title if the title element is empty', () => {
    expect(readFirstPage(page('<title> </title><meta property="og:title" content="Acme">')).title).toBe('Acme');
  });

  it('is null if the page has no title, or a title only in the body', () => {
    expect(readFirstPage(page('')).title).toBeNull();
    expect(readFirstPage('').title).toBeNull();
    expect(readFirstPage('<html><head></head><body><title>no</title>').title).toBeNull();
  });

  it('is shortened between whole characters if it is too long', () => {
    const { title, description } = readFirstPage(
      page(`<title>${'\u{1f525}'.repeat(500)}</title><meta name=description content="${'word '.repeat(500)}">`),
    );
    expect(title).toHaveLength(120);
    expect([title?.isWellFormed(), title?.endsWith('…')]).toEqual([true, true]);
    expect(description).toHaveLength(300);
  });
});

describe('readFirstPage(), description, language and refresh', () => {
  it('reads the description, the language and the refresh target', () => {
    const html = page(
      '<META NAME="Description" CONTENT="All &quot;of&quot; it &#x27;&lt;b&gt;"><meta http-equiv=Refresh content="0; url=en/index.html">',
      'lang="en-US"',
    );
    expect(readFirstPage(html)).toEqual({
      title: null,
      description: `All "of" it '<b>`,
      language: 'en-US',
      refresh: 'en/index.html',
    });
  });

  it('falls back to og:description and xml:lang', () => {
    const html = page(
      '<meta name=description content=" "><meta property="og:description" content="Of it">',
      'xml:lang=de',
    );
    expect(readFirstPage(html)).toMatchObject({ description: 'Of it', language: 'de' });
  });

  it('ignores an empty description and a language that is too long', () => {
    const html = page('<meta name=description content="">', `lang="${'x'.repeat(100)}"`);
    expect(readFirstPage(html)).toEqual({ title: null, description: null, language: null, refresh: null });
  });

  it('ignores a description in the body', () => {
    const html = page('', 'lang=en').replace('<body>', '<body><meta name=description content=no>');
    expect(readFirstPage(html).description).toBeNull();
  });

  it('returns plain text or null for any input, and does not throw', () => {
    const piece = fc.constantFrom(
      '<title>',
      '</title>',
      '<meta ',
      'name=description ',
      'content="',
      '"',
      '>',
      '&',
      '&#0;',
      '<svg>',
      '<![CDATA[',
      ']]>',
      '<!--',
      '<html lang=',
      '\ud800',
      'text',
      '<body',
      '<plaintext>',
      '<noscript>',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
        for (const value of Object.values(readFirstPage(pieces.join('')))) {
          if (value !== null) expect(value.length > 0 && value.length <= 300).toBe(true);
        }
      }),
      { numRuns: 1_000 },
    );
  });
});
