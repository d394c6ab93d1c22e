import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findReferences, referencesOf, rewriteFile } from '../../../src/web/rewrite/index.ts';
import { decodeUnits, sourceText } from '../../../src/web/rewrite/source-text.ts';

const CHARSETS = ['utf-8', 'windows-1252', 'shift_jis', 'gbk', 'big5', 'euc-kr', 'iso-2022-jp', 'utf-16le', 'utf-16be'];

/** Bytes of a page in a charset that Node cannot write: text and bytes, joined. */
function bytesOf(...parts: readonly (string | readonly number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
}

function urlsOf(bytes: Uint8Array, charset: string): string[] {
  return [...referencesOf(findReferences({ type: 'html', bytes, charset }))].map(({ url }) => url);
}

/** All references replaced by `N`. */
function replaced(bytes: Uint8Array, charset: string): Uint8Array {
  return rewriteFile(bytes, findReferences({ type: 'html', bytes, charset }), () => 'N').bytes;
}

describe('sourceText()', () => {
  it.each(CHARSETS)('has one unit for each byte of any file in %s, or for each two', (charset) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const { units } = sourceText(bytes, () => charset);
        expect(units.length).toBe(charset.startsWith('utf-16') ? bytes.length >> 1 : bytes.length);
      }),
    );
  });

  it.each(CHARSETS.filter((charset) => charset !== 'iso-2022-jp'))('is decoded as a whole as %s is', (charset) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 32 }), (bytes) => {
        const even = charset.startsWith('utf-16') ? bytes.subarray(0, bytes.length & ~1) : bytes;
        const { units } = sourceText(even, () => charset);
        // ICU's Shift_JIS turns three controls into each other, which the encoding standard's does not.
        fc.pre(charset !== 'shift_jis' || !even.some((byte) => byte === 0x1a || byte === 0x1c || byte === 0x7f));
        const decoded = new TextDecoder(charset, { ignoreBOM: true }).decode(even);
        // Half a character is kept in UTF-16, which only what is no text has.
        fc.pre(!charset.startsWith('utf-16') || !decoded.includes('\ufffd'));
        expect(decodeUnits(units, charset).toWellFormed().replaceAll('\ufeff', '')).toBe(
          decoded.replaceAll('\ufeff', ''),
        );
      }),
    );
  });

  it('reads a charset that nobody knows as UTF-8', () => {
    expect(sourceText(Buffer.from('a'), () => 'x-none').charset).toBe('utf-8');
  });
});

describe('findReferences() and rewriteFile() in any charset', () => {
  it('keeps bytes that are no UTF-8, and finds what is around them', () => {
    const page = bytesOf([0xff, 0xfe], '<p>', [0x80], '<a href="', [0xc3, 0xa9], '">', [0xc3], '</a>');
    expect(urlsOf(page, 'utf-8')).toEqual(['é']);
    expect(replaced(page, 'utf-8')).toEqual(bytesOf([0xff, 0xfe], '<p>', [0x80], '<a href="N">', [0xc3], '</a>'));
  });

  it('keeps a byte order mark', () => {
    const page = Buffer.from('\ufeff<a href="a">');
    expect(replaced(page, 'utf-8')).toEqual(Buffer.from('\ufeff<a href="N">'));
  });

  it('decodes single bytes, and leaves those of a query to themselves', () => {
    const page = bytesOf('<a href="', [0xe9], '?', [0xe9, 0x26], 'amp;b#', [0xe9], '"><a href="&eacute;">');
    expect(urlsOf(page, 'windows-1252')).toEqual(['é?%E9&b#é', 'é']);
    expect(replaced(page, 'windows-1252')).toEqual(bytesOf('<a href="N"><a href="N">'));
  });

  it('does not take the second half of a character for syntax', () => {
    // 表 is 0x95 0x5C in Shift_JIS, and 0x5C is a backslash to a script.
    const page = bytesOf(
      '<script>import("./',
      [0x95, 0x5c],
      '.js")</script><p style="background:url(',
      [0x95, 0x5c],
      ')">',
    );
    expect(urlsOf(page, 'shift_jis')).toEqual(['./表.js', '表']);
    expect(replaced(page, 'shift_jis')).toEqual(bytesOf('<script>import("./N")</script><p style="background:url(N)">'));
  });

  it('does not take characters in ISO-2022-JP for tags', () => {
    // Between the escapes `<a` are the two bytes of one character.
    const page = bytesOf('<p>', [0x1b], '$B<a', [0x1b], '(B<a href=b>');
    expect(urlsOf(page, 'iso-2022-jp')).toEqual(['b']);
    expect(replaced(page, 'iso-2022-jp')).toEqual(bytesOf('<p>', [0x1b], '$B<a', [0x1b], '(B<a href=N>'));
  });

  it.each(['utf-16le', 'utf-16be'])('writes %s', (charset) => {
    const encoded = (text: string): Buffer =>
      charset === 'utf-16le' ? Buffer.from(text, 'utf16le') : Buffer.from(text, 'utf16le').swap16();
    const page = encoded('\ufeff<p>表<a href="表?é">\ud800x</a>');
    expect(urlsOf(page, charset)).toEqual(['表?é']);
    expect(replaced(page, charset)).toEqual(encoded('\ufeff<p>表<a href="N">\ud800x</a>'));
  });
});
