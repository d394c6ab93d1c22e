const SHOWN_NAME_CHARS_MAX = 160;

/**
 * A name from outside, fit for a log or a terminal: control and format characters (line breaks, escape sequences,
 * writing direction), quotes and backslashes are escaped, its length is bounded.
 */
export function showName(name: string): string {
  const cut = name.length > SHOWN_NAME_CHARS_MAX ? `${name.slice(0, SHOWN_NAME_CHARS_MAX)}…` : name;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
