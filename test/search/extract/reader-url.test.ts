import { describe, expect, it } from 'vitest';
import { PageForms, readerUrl } from '../../../src/search/extract/reader-url.ts';

const FILES = new Set([
  'index.html',
  'guides/rpc.html',
  'guides/start/index.html',
  'both.html',
  'both/index.html',
  'a b?.html',
  'old.htm',
  'über.html',
]);

describe('readerUrl() (address of a page in search results)', () => {
  it.each([
    ['index.html', 'never', 'drop', '/'],
    ['index.html', 'always', 'keep', '/'],
    ['guides/rpc.html', 'never', 'drop', '/guides/rpc'],
    ['guides/rpc.html', 'never', 'keep', '/guides/rpc.html'],
    ['guides/start/index.html', 'always', 'drop', '/guides/start/'],
    ['guides/start/index.html', 'never', 'drop', '/guides/start'],
    ['old.htm', 'never', 'drop', '/old'],
    ['über.html', 'never', 'drop', '/über'],
  ] as const)(
    'maps the file %s with trailingSlash: %s and extension: %s to the address %s',
    (path, trailingSlash, extension, url) => {
      expect(readerUrl(path, { trailingSlash, extension }, FILES)).toBe(url);
    },
  );

  it('returns the address of the file if the shorter address belongs to another page', () => {
    expect(readerUrl('both/index.html', { trailingSlash: 'never', extension: 'drop' }, FILES)).toBe('/both/index.html');
    expect(readerUrl('both.html', { trailingSlash: 'never', extension: 'drop' }, FILES)).toBe('/both');
  });

  it('encodes characters that would end the path', () => {
    expect(readerUrl('a b?.html', { trailingSlash: 'never', extension: 'drop' }, FILES)).toBe('/a%20b%3F');
  });
});

describe('PageForms.extension() (whether page addresses keep .html)', () => {
  const decide = (...pages: [path: string, html: string][]) => {
    const forms = new PageForms(FILES);
    for (const [path, html] of pages) forms.addPage(path, html);
    return forms.extension();
  };

  it('returns "drop" if canonical links have no file extension, even if other links have an extension', () => {
    const links = '<a href="/guides/rpc.html">a</a>'.repeat(10);
    expect(decide(['guides/rpc.html', `<link rel="canonical" href="https://x.example/guides/rpc">${links}`])).toBe(
      'drop',
    );
  });

  it('returns "drop" if links have no file extension', () => {
    expect(decide(['index.html', '<a href="/guides/rpc">a</a><a href="both">b</a>'])).toBe('drop');
  });

  it('returns "keep" if links and canonical links have a file extension', () => {
    expect(
      decide([
        'both.html',
        '<a href="guides/rpc.html#x">a</a><link rel="canonical" href="https://x.example/en/both.html">',
      ]),
    ).toBe('keep');
  });

  it('ignores links to index.html pages, to other sites, and to missing files', () => {
    expect(
      decide([
        'guides/start/index.html',
        '<link rel="canonical" href="/guides/start"><a href="/guides/start">a</a><a href="//x.example/both">b</a><a href="/x">c</a>',
      ]),
    ).toBe('keep');
  });
});
