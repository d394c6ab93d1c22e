/**
 * The text of a page's bytes, decoded by the charset of its media type (`text/html; charset=…`), UTF-8 where that names none.
 * Never fails: a charset that nobody knows leaves the bytes readable as far as they are ASCII.
 */
export function pageText(bytes: Uint8Array, mediaType: string): string {
  const charset = /charset=([^;]+)/i.exec(mediaType)?.[1]?.trim() ?? 'utf-8';
  return decoderOf(charset).decode(bytes);
}

function decoderOf(charset: string): TextDecoder {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder('latin1');
  }
}
