/**
 * A model can read a script if at least this number of its vocabulary entries consist of two or more letters of the script.
 * MiniLM has 26,461 such entries for Latin, and at most 8 for other scripts.
 */
const PIECES_MIN = 100;

/** ISO 15924 code and Unicode name of each script. Chinese and Japanese share Han. */
const SCRIPT_NAMES = [
  'Latn:Latin Cyrl:Cyrillic Grek:Greek Arab:Arabic Hebr:Hebrew Deva:Devanagari Beng:Bengali Guru:Gurmukhi Gujr:Gujarati',
  'Taml:Tamil Telu:Telugu Knda:Kannada Mlym:Malayalam Sinh:Sinhala Thai:Thai Laoo:Lao Khmr:Khmer Mymr:Myanmar',
  'Ethi:Ethiopic Geor:Georgian Armn:Armenian Hang:Hangul Kana:Katakana Hira:Hiragana Hani:Han',
];
const LETTERS = SCRIPT_NAMES.flatMap((line) => line.split(' ')).map((pair) => {
  const [script = '', name] = pair.split(':');
  return { script, one: new RegExp(`\\p{Script=${name}}`, 'u'), word: new RegExp(`^\\p{Script=${name}}{2,}$`, 'u') };
});
const PART_OF: Readonly<Record<string, string>> = { Jpan: 'Hira', Kore: 'Hang', Hans: 'Hani', Hant: 'Hani' };

/** Matches a language tag with a script, such as `zh-Hant`. With `Intl.Locale`, finding the script takes 20 times as long. */
const WITH_SCRIPT = /^[a-z]{2,3}-([A-Z][a-z]{3})$/;

/** Returns `Latn` for `de`. Returns null if the tag is invalid, or if the language has no known script. */
export function scriptOfLanguage(tag: string): string | null {
  const script = WITH_SCRIPT.exec(tag)?.[1];
  if (script !== undefined) return PART_OF[script] ?? script;
  try {
    const script = new Intl.Locale(tag.replaceAll('_', '-')).maximize().script;
    return script === undefined ? null : (PART_OF[script] ?? script);
  } catch {
    return null;
  }
}

/** Assume that the model can read text whose language is unknown. */
export function readsLanguage(scripts: ReadonlySet<string>, language: string | null): boolean {
  if (language === null) return true;
  const script = scriptOfLanguage(language);
  return script !== null && scripts.has(script);
}

export function lettersByScript(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const letter of text.match(/\p{L}/gu) ?? []) {
    const script = LETTERS.find(({ one }) => one.test(letter))?.script ?? 'Zzzz';
    counts.set(script, (counts.get(script) ?? 0) + 1);
  }
  return counts;
}

export function readableScripts(vocabulary: Iterable<string>, isByteLevel: boolean): ReadonlySet<string> {
  const counted = LETTERS.map(({ script, word }) => ({ script, word, found: 0 }));
  for (const piece of vocabulary) {
    const text = isByteLevel ? fromByteLevel(piece) : piece.replace(/^(?:##|\u2581)/, '');
    const own = counted.find(({ word }) => word.test(text));
    if (own !== undefined) own.found += 1;
  }
  return new Set(counted.filter(({ found }) => found >= PIECES_MIN).map(({ script }) => script));
}

/**
 * Decodes a vocabulary entry in which each character represents a byte. A printable Latin-1 character represents the byte with
 * its code. Characters from U+0100 on represent all other bytes, in ascending order.
 */
function fromByteLevel(piece: string): string {
  const bytes = Array.from(piece, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x100) return code;
    // Bytes other than printable Latin-1 are 0 to 32, 127 to 160, and 173.
    const order = code - 0x100;
    if (order <= 32) return order;
    return order <= 66 ? order - 33 + 127 : 173;
  });
  return Buffer.from(bytes).toString('utf8').trim();
}
