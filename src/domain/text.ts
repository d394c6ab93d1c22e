/** Characters that a terminal interprets or hides, but not soft hyphens, or joiners in emoji and in scripts that use joiners. */
const UNPRINTABLE =
  /[[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]--[\u00ad\u200c\u200d]]|(?<![[\p{L}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}]--[\p{Script=Latin}\p{Script=Greek}\p{Script=Cyrillic}]])[\u200c\u200d]/gv;

const inBraces = (codePoint: number): string => `\\u{${codePoint.toString(16)}}`;

/** Makes untrusted text safe for one line of a terminal, log or notice. For lines or JSON, use `printableLines` or `printableJson`. */
export const printable = (text: string, shown: (codePoint: number) => string = inBraces): string =>
  text.replace(UNPRINTABLE, (character) => shown(character.codePointAt(0) ?? 0));

export function printableLines(text: string): string {
  return printable(text, (codePoint) =>
    codePoint === 0x0a || codePoint === 0x09 ? String.fromCharCode(codePoint) : inBraces(codePoint),
  );
}

/** Escapes unprintable characters of a JSON text without changing its value. Between tokens, only spaces and line feeds may occur. */
export function printableJson(json: string): string {
  return printable(json, (codePoint) => {
    if (codePoint === 0x0a) return '\n';
    const units = String.fromCodePoint(codePoint).split('');
    return units.map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
  });
}

/** Lines of a file without surrounding white space. Omits empty lines and comments (`#`). */
export const linesOf = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => !/^(?:#|$)/.test(line));

/** Headers by lower-case name, from lines such as `Name: value`. The value of a line without a colon is empty. */
export function headersIn(lines: readonly string[]): Record<string, string> {
  const headers = lines.map((line) => {
    const [name = '', ...value] = line.split(':');
    return [name.toLowerCase(), value.join(':').trim()];
  });
  return Object.fromEntries(headers);
}

export const counted = (count: number, one: string, many?: string): string => `${count} ${nounOf(count, one, many)}`;

export const nounOf = (count: number, one: string, many = `${one}s`): string => (count === 1 ? one : many);

export function percentDecode(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

export const decodeOrKeep = (text: string): string => percentDecode(text) ?? text;

/** Edit distance by optimal string alignment. Returns `max + 1` for all larger distances. */
export function editDistance(left: string, right: string, max = Number.MAX_SAFE_INTEGER - 1): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    let least = row;
    for (let column = 1; column <= right.length; column += 1) {
      const same = left.charCodeAt(row - 1) === right.charCodeAt(column - 1);
      let distance = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 &&
        column > 1 &&
        left.charCodeAt(row - 1) === right.charCodeAt(column - 2) &&
        left.charCodeAt(row - 2) === right.charCodeAt(column - 1);
      if (swapped) distance = Math.min(distance, (beforeLast[column - 2] ?? 0) + 1);
      current.push(distance);
      least = Math.min(least, distance);
    }
    if (least > max) return max + 1;
    beforeLast = last;
    last = current;
  }
  return Math.min(max + 1, last[right.length] ?? 0);
}
