import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findReferences } from '../../../src/web/rewrite/find-references.ts';
import { decodeUnits, type SourceType, unitsOf, utf8Bytes } from '../../../src/web/rewrite/source-text.ts';
import { rewriteFile } from '../../../src/web/rewrite/write.ts';

/** Bytes of a page in a charset that Node cannot write, joined from text and bytes. */
function bytesOf(...parts: readonly (string | readonly number[])[]): Buffer {
  return Buffer.concat(parts.map((part) => Buffer.from(part as string, 'latin1')));
}

function urlsOf(bytes: Uint8Array): string[] {
  return findReferences({ type: 'html', bytes }).references.map(({ url }) => url);
}

/** Replaces each reference by `N`. */
function replaced(bytes: Uint8Array): Uint8Array {
  return rewriteFile(bytes, findReferences({ type: 'html', bytes }), () => 'N').bytes;
}

describe('unitsOf() and decodeUnits() (bytes of a file as code units)', () => {
  it('represent each byte as one unit, and decode the units to the text of the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const units = unitsOf(bytes);
        expect(units.length).toBe(bytes.length);
        expect(decodeUnits(units)).toBe(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes));
      }),
    );
  });

  it('keep bytes that are not valid UTF-8, and find the references next to these bytes', () => {
    const page = bytesOf([0xff, 0xfe], '<p>', [0x80], '<a href="', [0xc3, 0xa9], '">', [0xc3], '</a>');
    expect(urlsOf(page)).toEqual(['é']);
    expect(replaced(page)).toEqual(bytesOf([0xff, 0xfe], '<p>', [0x80], '<a href="N">', [0xc3], '</a>'));
  });

  it('keep a byte order mark', () => {
    expect(replaced(Buffer.from('\ufeff<a href="a">'))).toEqual(Buffer.from('\ufeff<a href="N">'));
  });

  it('read character references and escapes next to bytes that are not ASCII', () => {
    expect(
      urlsOf(
        Buffer.from(
          '<a href="&eacute;é&#x8868;"><script>import("./\\u00e9é\\ud83d\\ude00.js")</script><style>a{b:url(é\\e9 z);c:url("\\e9 é")}</style>',
        ),
      ),
    ).toEqual(['éé表', './éé😀.js', 'ééz', 'éé']);
    const manifest = Buffer.from('{"start_url":"\\u00e9é"}');
    expect(findReferences({ type: 'manifest', bytes: manifest }).references.map(({ url }) => url)).toEqual(['éé']);
  });
});

describe('utf8Bytes() (conversion of a file to UTF-8)', () => {
  const inUtf8 = (bytes: Uint8Array, charset: string | null = null, type: SourceType = 'html') =>
    Buffer.from(utf8Bytes(bytes, type, charset)).toString();

  it('returns the same object for UTF-8, an unknown charset and an ASCII file', () => {
    const page = Buffer.from('<meta charset="shift_jis"><p>a');
    expect(utf8Bytes(page, 'html', 'utf-8')).toBe(page);
    expect(utf8Bytes(page, 'html', 'x-none')).toBe(page);
    expect(utf8Bytes(page, 'html', null)).toBe(page);
  });

  it.each<[string, Buffer, string, string[]]>([
    [
      'windows-1252',
      bytesOf('<p>', [0x80], '<a href="', [0xe9], '&eacute;"><a href="b">'),
      '<p>€<a href="é&eacute;"><a href="b">',
      ['éé', 'b'],
    ],
    // 表 is 0x95 0x5C in Shift_JIS, and 0x5C is a backslash in a script.
    [
      'shift_jis',
      bytesOf('<script>import("./', [0x95, 0x5c], '.js")</script><p style="background:url(', [0x95, 0x5c], ')">'),
      '<script>import("./表.js")</script><p style="background:url(表)">',
      ['./表.js', '表'],
    ],
    // Between the escapes, `<a` are the two bytes of one character.
    ['iso-2022-jp', bytesOf('<p>', [0x1b], '$B<a', [0x1b], '(B<a href=b>'), '<p>釈<a href=b>', ['b']],
    ['gb18030', bytesOf('<a href="', [0x81, 0x30, 0x81, 0x30], '">'), '<a href="\u0080">', ['\u0080']],
    ['utf-16le', Buffer.from('\ufeff<a href="表?é">', 'utf16le'), '<a href="表?é">', ['表?é']],
    ['utf-16be', Buffer.from('\ufeff<a href="表?é">', 'utf16le').swap16(), '<a href="表?é">', ['表?é']],
  ])('decodes %s once, and marks the file as UTF-8', (charset, bytes, text, urls) => {
    const made = utf8Bytes(bytes, 'html', charset);
    expect(Buffer.from(made).toString()).toBe(`\ufeff${text}`);
    expect(urlsOf(made)).toEqual(urls);
  });

  it('changes only the charset declaration of the file', () => {
    const page = (charset: string) =>
      `<!--charset=latin1--><meta charset=${charset}><meta http-equiv="Content-Type" content="text/html; charset=${charset}"><meta name=a content="charset=koi8-r"><p>é`;
    expect(inUtf8(Buffer.from(page('ISO-8859-1'), 'latin1'))).toBe(`\ufeff${page('utf-8')}`);
    const xml = (charset: string) => `<?xml version="1.0" encoding="${charset}"?><svg><a href="é"/></svg>`;
    expect(inUtf8(Buffer.from(xml('windows-1252'), 'latin1'), null, 'xml')).toBe(`\ufeff${xml('utf-8')}`);
    const css = (charset: string) => `@charset "${charset}";a{background:url(é)}`;
    expect(inUtf8(Buffer.from(css('latin1'), 'latin1'), null, 'css')).toBe(`\ufeff${css('utf-8')}`);
  });

  it('keeps the bytes of a query, which browsers send in the charset of the page', () => {
    const page = bytesOf(
      '<p>?',
      [0xe9],
      '<a href="',
      [0xe9],
      '?',
      [0xe9, 0x26],
      'amp;b#',
      [0xe9],
      '"><img src=?\x95\x5c>',
    );
    const made = utf8Bytes(page, 'html', 'windows-1252');
    expect(Buffer.from(made).toString()).toBe('\ufeff<p>?é<a href="é?%E9&amp;b#é"><img src=?%95\\>');
    expect(urlsOf(made)).toEqual(['é?%E9&b#é', '?%95\\']);
  });

  it.each<[string, SourceType, string]>([
    ['the text of a page', 'html', '<pre>&lt;a href="x.php?wort=Übung"&gt;</pre><p>Set src=x?é here'],
    ['a comment', 'html', '<!-- <a href="?é"> --><title><a href="?é"></title>'],
    ['a script in a page', 'html', '<script>s = " href=?é"; t = \'<a href="?é">\';</script>'],
    ['a style sheet', 'css', '/* data=x?é */ a{}'],
    ['a script', 'script', 's = " href=?é";'],
  ])('does not change addresses in %s', (_what, type, text) => {
    expect(inUtf8(Buffer.from(text, 'latin1'), 'latin1', type)).toBe(`\ufeff${text}`);
  });

  it('prefers a byte order mark to the Content-Type header, and the header to the declaration in the file', () => {
    expect(inUtf8(Buffer.from('\ufeff<p>é', 'utf16le'), 'utf-8')).toBe('\ufeff<p>é');
    expect(inUtf8(Buffer.from('<meta charset="koi8-r"><p>é', 'latin1'), 'latin1')).toBe(
      '\ufeff<meta charset="koi8-r"><p>é',
    );
  });
});
