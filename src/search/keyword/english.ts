export const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about above after again against all am an and any are as at be because been before being below between both ' +
    'but by can could did do does doing don down during each few for from further had has have having he her here hers ' +
    'herself him himself his how i if in into is it its itself just me might more most must my myself no nor not now ' +
    'of off on once only or other our ours ourselves out over own same shall she should so some such than that the ' +
    'their theirs them themselves then there these they this those through to too under until up us very was we were ' +
    'what when where which while who whom whose why will with would you your yours yourself yourselves'
  ).split(' '),
);

export function isStopWord(folded: string, typed: string): boolean {
  return STOP_WORDS.has(folded) && !(typed.length > 1 && typed === typed.toUpperCase());
}

/** Endings in British and American spelling. The group before an ending keeps short words apart, such as `four` and `for`. */
const SPELLINGS = [
  ['(\\w{2})is', 'iz', '(e[drs]?|ing|ations?)'],
  ['(\\w{2})ys', 'yz', '(e[drs]?|ing)'],
  ['(\\w{3})our', 'or', '(s|ed|ing|ful|able|al|ites?|ers?)?'],
  ['(\\w{2})tre', 'ter', '(s)?'],
  ['(\\w{4})ogue', 'og', '(s)?'],
  ['([aeiou][^aeiou]+[aeiou])ll', 'l', '(ed|ing|ers?)'],
  ['(\\w{3})ence', 'ense', '(s)?'],
].flatMap(([british = '', american = '', ending = '']) => {
  const [before = '', end = ''] = british.split(/(?<=\))/);
  return [
    [new RegExp(`${before}${end}${ending}$`), `$1${american}$2`],
    [new RegExp(`${before}${american}${ending}$`), `$1${end}$2`],
  ] as const;
});

/** Returns `color` for `colour`, and `colour` for `color`. May also return words that do not exist, such as `editour` for `editor`. */
export function otherSpellings(word: string): string[] {
  return SPELLINGS.filter(([ending]) => ending.test(word)).map(([ending, other]) => word.replace(ending, other));
}

/** M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980. A stem is a key, not a word: `happi` for `happy`. */
export function stem(word: string): string {
  if (word.length < 3 || !LETTERS.test(word)) return word;
  return tidy(derived(derived(derived(finalY(inflected(plural(word))), STEP_2, 0), STEP_3, 0), STEP_4, 1));
}

const LETTERS = /^[a-z]+$/;

type Rules = readonly (readonly [suffix: string, replacement: string])[];

const rules = (...pairs: readonly string[]): Rules =>
  pairs.map((pair) => pair.split(':') as [string, string]).sort(([left], [right]) => right.length - left.length);

const STEP_2 = rules(
  ...['ational:ate', 'tional:tion', 'enci:ence', 'anci:ance', 'izer:ize', 'bli:ble', 'alli:al', 'entli:ent', 'eli:e'],
  ...['ousli:ous', 'ization:ize', 'ation:ate', 'ator:ate', 'alism:al', 'iveness:ive', 'fulness:ful', 'ousness:ous'],
  ...['aliti:al', 'iviti:ive', 'biliti:ble', 'logi:log'],
);
const STEP_3 = rules('icate:ic', 'ative:', 'alize:al', 'iciti:ic', 'ical:ic', 'ful:', 'ness:');
const STEP_4 = rules(
  ...['al:', 'ance:', 'ence:', 'er:', 'ic:', 'able:', 'ible:', 'ant:', 'ement:', 'ment:', 'ent:', 'ion:'],
  ...['ou:', 'ism:', 'ate:', 'iti:', 'ous:', 'ive:', 'ize:'],
);

function shapeOf(word: string): string {
  let shape = '';
  for (const letter of word) {
    const vowel = 'aeiou'.includes(letter) || (letter === 'y' && shape.endsWith('c'));
    shape += vowel ? 'v' : 'c';
  }
  return shape;
}

/** Porter's m: number of vowel-consonant sequences. */
function measure(base: string): number {
  return shapeOf(base).match(/v+c/g)?.length ?? 0;
}

const hasVowel = (base: string) => shapeOf(base).includes('v');
/** Porter's *o: ends with consonant, vowel, consonant, but not with w, x or y. */
const endsShort = (base: string) => shapeOf(base).endsWith('cvc') && !/[wxy]$/.test(base);

function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

function inflected(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = /(?:ed|ing)$/.exec(word)?.[0];
  if (suffix === undefined) return word;
  const base = word.slice(0, -suffix.length);
  if (!hasVowel(base)) return word;
  if (/(?:at|bl|iz)$/.test(base)) return `${base}e`;
  if (/([^aeiou])\1$/.test(base) && !/[lsz]$/.test(base)) return base.slice(0, -1);
  return measure(base) === 1 && endsShort(base) ? `${base}e` : base;
}

function finalY(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

function derived(word: string, list: Rules, least: number): string {
  const rule = list.find(([suffix]) => word.endsWith(suffix));
  if (rule === undefined) return word;
  const [suffix, replacement] = rule;
  const base = word.slice(0, -suffix.length);
  if (suffix === 'ion' && !/[st]$/.test(base)) return word;
  return measure(base) > least ? base + replacement : word;
}

function tidy(word: string): string {
  const base = word.slice(0, -1);
  const m = measure(base);
  const short = word.endsWith('e') && (m > 1 || (m === 1 && !endsShort(base))) ? base : word;
  return short.endsWith('ll') && measure(short.slice(0, -1)) > 1 ? short.slice(0, -1) : short;
}
