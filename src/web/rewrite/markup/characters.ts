export const LESS = 0x3c;
export const GREATER = 0x3e;
export const SLASH = 0x2f;
export const EQUALS = 0x3d;
export const QUOTE = 0x22;
export const APOSTROPHE = 0x27;
export const BANG = 0x21;
export const QUESTION = 0x3f;

/** HTML's white space: tab, line feed, form feed, carriage return, space. */
export function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x09 || code === 0x0d || code === 0x0c;
}

export function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

export function isUpper(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

/** What may stand behind the name of an end tag that ends raw text. */
export function endsTagName(code: number): boolean {
  return isSpace(code) || code === SLASH || code === GREATER;
}
