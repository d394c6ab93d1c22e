import { stemmer } from 'stemmer';

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

/**
 * Endings in British and American spelling. The group before an ending requires a minimum length, so that `four` is not `for`.
 */
const SPELLINGS = [
  ['(\\w{2})is', 'iz', '(e[drs]?|ing|ations?)'],
  ['(\\w{2})ys', 'yz', '(e[drs]?|ing)'],
  ['(\\w{3})our', 'or', '(s|ed|ing|ful|able|al|ites?|ers?)?'],
  ['(\\w{2})tre', 'ter', '(s)?'],
  ['(\\w{4})ogue', 'og', '(s)?'],
  ['([aeiou][^aeiou]+[aeiou])ll', 'l', '(ed|ing|ers?)'],
  ['(\\w{3})ence', 'ense', '(s)?'],
  ['(^ca)nnot', 'nt', '()'],
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

/**
 * Returns the stem by Porter's rules. A stem is a key, not a word: `happi` for `happy`. Leaves words with fewer than
 * three letters, or with other characters than `a` to `z`, unchanged.
 */
export function stem(word: string): string {
  return word.length < 3 || !/^[a-z]+$/.test(word) ? word : stemmer(word);
}
