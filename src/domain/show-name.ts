const SHOWN_NAME_CHARS_MAX = 160;

/** A foreign name for logs and terminals: escapes controls, writing direction, quotes and backslashes; bounded. */
export function showName(name: string): string {
  const cut = name.length > SHOWN_NAME_CHARS_MAX ? `${name.slice(0, SHOWN_NAME_CHARS_MAX)}…` : name;
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}"\\]/gu, (char) =>
    char === '"' || char === '\\' ? `\\${char}` : `\\u{${(char.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
