/**
 * Which writing a model can read, told by its vocabulary: a script in which the tokenizer knows words, and not only
 * letters, is one that the model was trained on. Measured: MiniLM has 26,461 such pieces for Latin and at most 8 for any
 * other script; multilingual-e5-small 404 (Katakana) to 109,484 for each of 26 scripts.
 */

/** Pieces of two letters or more from which on a script counts as read: far from both sides of the measurement. */
const PIECES_MIN = 100;

/** Scripts (ISO 15924) with the Unicode property that finds their letters. Chinese and Japanese share Han. */
const SCRIPT_NAMES: Readonly<Record<string, string>> = {
  Latn: 'Latin',
  Cyrl: 'Cyrillic',
  Grek: 'Greek',
  Arab: 'Arabic',
  Hebr: 'Hebrew',
  Deva: 'Devanagari',
  Beng: 'Bengali',
  Guru: 'Gurmukhi',
  Gujr: 'Gujarati',
  Taml: 'Tamil',
  Telu: 'Telugu',
  Knda: 'Kannada',
  Mlym: 'Malayalam',
  Sinh: 'Sinhala',
  Thai: 'Thai',
  Laoo: 'Lao',
  Khmr: 'Khmer',
  Mymr: 'Myanmar',
  Ethi: 'Ethiopic',
  Geor: 'Georgian',
  Armn: 'Armenian',
  Hang: 'Hangul',
  Kana: 'Katakana',
  Hira: 'Hiragana',
  Hani: 'Han',
};
const LETTERS = Object.entries(SCRIPT_NAMES).map(([script, name]) => ({
  script,
  one: new RegExp(`\\p{Script=${name}}`, 'u'),
  word: new RegExp(`^\\p{Script=${name}}{2,}$`, 'u'),
}));
/** Of languages that are written in a mixture of scripts, the most telling one. */
const PART_OF: Readonly<Record<string, string>> = { Jpan: 'Hira', Kore: 'Hang', Hans: 'Hani', Hant: 'Hani' };

/** A tag that says its script itself (RFC 5646, section 2.2.3): looking up what is likely takes 20 times as long. */
const WITH_SCRIPT = /^[a-z]{2,3}-([A-Z][a-z]{3})$/;

/** The script of a language, `Latn` for `de`; null where the tag is none or names a language without one. */
export function scriptOfLanguage(tag: string): string | null {
  const said = WITH_SCRIPT.exec(tag)?.[1];
  if (said !== undefined) return PART_OF[said] ?? said;
  try {
    const script = new Intl.Locale(tag.replaceAll('_', '-')).maximize().script;
    return script === undefined ? null : (PART_OF[script] ?? script);
  } catch {
    return null;
  }
}

/** True where a model that reads these scripts is of use in a language (a BCP 47 tag). */
export function readsLanguage(scripts: ReadonlySet<string>, language: string): boolean {
  const script = scriptOfLanguage(language);
  return script !== null && scripts.has(script);
}

/** How many letters of each script a text has; those of any other script are under `Zzzz`, the code of unknown ones. */
export function lettersByScript(text: string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const letter of text.match(/\p{L}/gu) ?? []) {
    const script = LETTERS.find(({ one }) => one.test(letter))?.script ?? 'Zzzz';
    counts.set(script, (counts.get(script) ?? 0) + 1);
  }
  return counts;
}

/** The scripts that a tokenizer's vocabulary has words of. */
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
 * The text of a piece of a byte-level vocabulary, in which every byte is a printable character: those that are printable in
 * Latin-1 are themselves, the others follow in order from U+0100 on. A space in front is taken off.
 */
function fromByteLevel(piece: string): string {
  const bytes = Array.from(piece, (character) => {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x100) return code;
    // 0..32, then 127..160, then 173: the bytes that are not printable.
    const order = code - 0x100;
    if (order <= 32) return order;
    return order <= 66 ? order - 33 + 127 : 173;
  });
  return Buffer.from(bytes).toString('utf8').trim();
}
