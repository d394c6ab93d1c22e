import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import type { SourceType } from '../../../src/web/rewrite/source-text.ts';
import { rewriteFile, spliceBytes, writtenUrl } from '../../../src/web/rewrite/write.ts';
import { cases } from '../../helpers/runs.ts';

const PIECES = [
  ...[
    '<a href="',
    "<img srcset='",
    '<p style="',
    '<style>',
    '</style>',
    '<script>',
    '</script>',
    '<iframe srcdoc="',
    '">',
    "'>",
    '>',
  ],
  ...[
    'url(',
    ')',
    '@import "',
    '"',
    "'",
    ';',
    '{',
    '}',
    '&quot;',
    '&amp;',
    '&#39',
    '\\',
    'import(',
    "import x from '",
    ' 1x, ',
  ],
  ...[
    '<svg>',
    '</svg>',
    '<![CDATA[',
    ']]>',
    '<!--',
    '-->',
    '\u00e9',
    '\u8868',
    '\r\n',
    ' ',
    'a.png',
    '/b/c',
    '?d=1',
    '#e',
    'https://x.test/',
  ],
  ...[
    '<base href=',
    '<meta http-equiv=refresh content="0;url=',
    '<link rel=stylesheet integrity=x href=',
    '<script type=importmap>{"imports":{"a":"',
  ],
  ...['{"start_url":"', '"}', 'new Worker("', ', import.meta.url)', 'new URL("'],
];
const text = fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join(''));
const types = fc.constantFrom<SourceType[]>('html', 'xml', 'css', 'script', 'manifest');

describe('rewriteFile()', () => {
  it('returns exactly the same bytes if nothing is replaced or each replacement equals the original', () => {
    fc.assert(
      fc.property(types, text, (type, source) => {
        const bytes = Buffer.from(source);
        const found = findReferences({ type, bytes });
        expect(rewriteFile(bytes, found, () => null)).toEqual({ bytes, changed: 0 });
        const edits = found.references.map(({ start, end }) => ({
          start,
          end,
          text: bytes.toString('latin1', start, end),
        }));
        expect(spliceBytes(bytes, edits)).toEqual(bytes);
      }),
      { numRuns: cases(400) },
    );
  });

  it('replaces only ranges that are within the file and do not overlap', () => {
    fc.assert(
      fc.property(types, text, (type, source) => {
        const bytes = Buffer.from(source);
        const places = findReferences({ type, bytes })
          .references.filter(({ kind }) => kind !== 'mention')
          .toSorted((a, b) => a.start - b.start);
        for (const [index, { start, end }] of places.entries()) {
          expect(start).toBeGreaterThanOrEqual(places[index - 1]?.end ?? 0);
          expect(end).toBeGreaterThanOrEqual(start);
          expect(end).toBeLessThanOrEqual(bytes.length);
        }
      }),
      { numRuns: cases(400) },
    );
  });

  it('writes URLs that findReferences() finds again', () => {
    fc.assert(
      fc.property(fc.constantFrom<SourceType[]>('html', 'css', 'script'), text, (type, source) => {
        const bytes = Buffer.from(source);
        const found = findReferences({ type, bytes });
        const places = found.references.filter(({ kind }) => kind !== 'mention');
        const urls = new Map(places.map(({ start }, index) => [start, `./n${index}?a&b=,%20c`]));
        const after = rewriteFile(bytes, found, ({ start }) => urls.get(start) ?? null).bytes;
        const again = findReferences({ type, bytes: after }).references;
        const wanted = places
          .map(({ kind, start }) => `${kind} ${urls.get(start)}`)
          .filter((each) => !each.startsWith('integrity'));
        const seen = again.map(({ kind, url }) => `${kind} ${url.replace('%2C', ',')}`);
        expect(seen.filter((each) => !each.startsWith('integrity') && !each.startsWith('mention'))).toEqual(wanted);
      }),
      { numRuns: cases(400) },
    );
  });
});

describe('writtenUrl()', () => {
  it('returns an ASCII URL with the same meaning, whatever notation the URL is written in', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true, withFragments: true }), fc.nat(0x1ff), (url, writing) => {
        const written = writtenUrl(url, writing & ~0x10f);
        expect(written).toMatch(/^[!-~]*$/);
        const decoded = (address: string): string => decodeURIComponent(new URL(address).href);
        expect(decoded(written)).toBe(decoded(url));
      }),
    );
  });
});
