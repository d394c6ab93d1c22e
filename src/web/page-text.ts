import { charsetOfType } from './charset.ts';

/**
 * The text of a page's bytes, decoded by the charset of its media type (`text/html; charset=…`), UTF-8 where that names none.
 * Never fails: a charset that nobody knows leaves the bytes readable as far as they are ASCII.
 */
export function pageText(bytes: Uint8Array, mediaType: string): string {
  return decoderOf(charsetOfType(mediaType) ?? 'utf-8').decode(bytes);
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder('latin1');
  }
}
