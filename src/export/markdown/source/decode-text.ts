/** The text of a file that people wrote, and whether its bytes were what they should be. */
export interface DecodedText {
  /** Without byte order mark, lines ended by `\n`. */
  readonly text: string;
  /** False where the bytes are not valid in any Unicode encoding; they are read as Windows-1252 then, as browsers do. */
  readonly isUnicode: boolean;
}

/** Reads UTF-8, and UTF-16 that says so by its byte order mark. */
export function decodeText(bytes: Uint8Array): DecodedText {
  const encoding =
    bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : bytes[0] === 0xfe && bytes[1] === 0xff ? 'utf-16be' : 'utf-8';
  try {
    return { text: unixLines(new TextDecoder(encoding, { fatal: true }).decode(bytes)), isUnicode: true };
  } catch {
    return { text: unixLines(new TextDecoder('windows-1252').decode(bytes)), isUnicode: false };
  }
}

function unixLines(text: string): string {
  return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
}
