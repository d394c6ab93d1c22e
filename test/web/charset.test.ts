import { describe, expect, it } from 'vitest';
import { CHARSET_HEAD_BYTES, htmlCharset, markedCharset } from '../../src/web/media-type.ts';

const of = (html: string) => htmlCharset(Buffer.from(html, 'latin1'));

describe('htmlCharset()', () => {
  it.each([
    ['<!doctype html><meta charset="utf-8">', 'utf-8'],
    ['<meta charset=UTF8>', 'utf-8'],
    ["<meta charset='ISO-8859-1'/>", 'windows-1252'],
    ['<META name=x CHARSET=gb2312>', 'gbk'],
    ['<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS">', 'shift_jis'],
    ['<meta content="text/html;charset=koi8-r" http-equiv=content-type>', 'koi8-r'],
    ['<?xml version="1.0" encoding="EUC-KR"?><html>', 'euc-kr'],
    ['<?xml version="1.0" encoding="EUC-KR"?><html><meta charset="utf-8">', 'utf-8'],
    ['<meta charset="no-such"><meta charset="big5">', 'big5'],
    ['<meta charset="utf-16">', 'utf-8'],
  ])('returns for the markup %s the charset %s', (html, charset) => {
    expect(of(html)).toBe(charset);
  });

  it.each([
    ['no declaration', '<p>hello'],
    ['a comment', '<!-- <meta charset="big5"> --><p>'],
    ['a description that mentions a charset', '<meta name="description" content="text/html; charset=big5">'],
    ['an attribute whose name ends with charset', '<meta data-charset="big5">'],
    ['an unknown label', '<meta charset="no-such">'],
    ['a late XML declaration', '<p><?xml version="1.0" encoding="EUC-KR"?>'],
    ['a declaration after the head', `${' '.repeat(CHARSET_HEAD_BYTES)}<meta charset="big5">`],
    ['an empty file', ''],
  ])('returns null if the page has no valid charset declaration in its head: %s', (_name, html) => {
    expect(of(html)).toBeNull();
  });

  it('prefers a byte order mark to any declaration', () => {
    expect(htmlCharset(Buffer.from('\ufeff<meta charset="big5">'))).toBe('utf-8');
    expect(htmlCharset(Uint8Array.from([0xfe, 0xff, 0, 60]))).toBe('utf-16be');
    expect(htmlCharset(Uint8Array.from([0xff, 0xfe, 60, 0]))).toBe('utf-16le');
  });
});

describe('markedCharset()', () => {
  it('returns the charset of a byte order mark, whatever the type of the file', () => {
    expect(markedCharset(Buffer.from('\ufeffa{}'))).toBe('utf-8');
    expect(markedCharset(Buffer.from('\ufeffa{}', 'utf16le'))).toBe('utf-16le');
    expect(markedCharset(Buffer.from('a{}'))).toBeNull();
    expect(markedCharset(new Uint8Array())).toBeNull();
  });
});
