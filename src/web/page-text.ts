import { charsetOfType } from './charset.ts';

/** A page's text by the charset of its media type, UTF-8 where that names none, Latin 1 where nobody knows it. */
export function pageText(bytes: Uint8Array, mediaType: string): string {
  const charset = charsetOfType(mediaType) ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder('latin1').decode(bytes);
  }
}
