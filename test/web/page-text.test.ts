import { describe, expect, it } from 'vitest';
import { pageText } from '../../src/web/media-type.ts';

describe('pageText()', () => {
  it.each([
    ['text/html; charset=utf-8', [0xc3, 0xa9], 'é'],
    ['text/html', [0xc3, 0xa9], 'é'],
    ['text/html; charset=windows-1252', [0xe9], 'é'],
    ['text/html; charset=utf-16le', [0xe9, 0], 'é'],
    ['text/html; charset=nonsense', [0x41, 0xe9], 'Aé'],
    ['text/html; charset=utf-8', [0x41, 0xff], 'A\ufffd'],
  ])('decodes bytes with the charset of the content type %s', (type, bytes, text) => {
    expect(pageText(Uint8Array.from(bytes), type)).toBe(text);
  });
});
