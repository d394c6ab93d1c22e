import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as greek } from '@orama/stemmers/greek';
import { stemmer as indonesian } from '@orama/stemmers/indonesian';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as lithuanian } from '@orama/stemmers/lithuanian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as romanian } from '@orama/stemmers/romanian';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stopwords as arabicStops } from '@orama/stopwords/arabic';
import { stopwords as bulgarianStops } from '@orama/stopwords/bulgarian';
import { stopwords as danishStops } from '@orama/stopwords/danish';
import { stopwords as dutchStops } from '@orama/stopwords/dutch';
import { stopwords as finnishStops } from '@orama/stopwords/finnish';
import { stopwords as frenchStops } from '@orama/stopwords/french';
import { stopwords as germanStops } from '@orama/stopwords/german';
import { stopwords as greekStops } from '@orama/stopwords/greek';
import { stopwords as hungarianStops } from '@orama/stopwords/hungarian';
import { stopwords as indonesianStops } from '@orama/stopwords/indonesian';
import { stopwords as italianStops } from '@orama/stopwords/italian';
import { stopwords as lithuanianStops } from '@orama/stopwords/lithuanian';
import { stopwords as norwegianStops } from '@orama/stopwords/norwegian';
import { stopwords as portugueseStops } from '@orama/stopwords/portuguese';
import { stopwords as romanianStops } from '@orama/stopwords/romanian';
import { stopwords as russianStops } from '@orama/stopwords/russian';
import { stopwords as spanishStops } from '@orama/stopwords/spanish';
import { stopwords as swedishStops } from '@orama/stopwords/swedish';
import { stopwords as turkishStops } from '@orama/stopwords/turkish';
import { stopwords as ukrainianStops } from '@orama/stopwords/ukrainian';
import traditional from 'opencc-js/dict/TSCharacters';
import regional from 'opencc-js/dict/TWPhrasesRev';
import { STOP_WORDS, stem } from './english.ts';
import { fold, type Word } from './words.ts';

type Script = 'Latn' | 'Cyrl' | 'Grek' | 'Arab' | 'Hebr' | 'other';

export interface WordLanguage {
  readonly code: string;
  readonly script: Script;
  readonly stopWords: ReadonlySet<string>;
  /** True if words with a long common part count as related, because the stemmer misses inflections. */
  readonly hasParts: boolean;
  /** True if the language writes compounds as one word, such as `Datenbankverbindung`. */
  readonly isCompounding: boolean;
  /** @param spelling word in lower case, with diacritics */
  readonly stem: (spelling: string) => string;
  /** Unifies different stems of the same word, such as `hinta` and `hinnat` in Finnish. */
  readonly unify: (stem: string) => string;
}

interface Rules {
  readonly script?: Script;
  readonly stops?: readonly string[];
  readonly isCompounding?: boolean;
  /** Unifies spellings of a word before stemming. */
  readonly before?: (word: string) => string;
  /** Unifies different stems of the same word. The parameter has no diacritics. */
  readonly unify?: (stem: string) => string;
}

const same = (word: string): string => word;
const WORD_OF_LETTERS = /^\p{L}[\p{L}\p{M}]{2,}$/u;

function language(code: string, stemmer: (word: string) => string, rules: Rules = {}): WordLanguage {
  const { script = 'Latn', stops = [], isCompounding = false, before = same, unify = same } = rules;
  const stemOf = (word: string): string => {
    const changed = before(word);
    if (!WORD_OF_LETTERS.test(changed)) return fold(word);
    return fold(stemmer(changed)) || fold(word);
  };
  return { code, script, stopWords: new Set(stops.map(fold)), hasParts: true, isCompounding, stem: stemOf, unify };
}

/** @param rules regular expressions with their replacements, applied in order: `z$→s v$→f` */
const rewriting = (rules: string) => {
  const pairs = rules.split(' ').map((rule) => rule.split('→') as [from: string, to: string]);
  const patterns = pairs.map(([from, to]) => [new RegExp(from, 'u'), to] as const);
  return (word: string): string => patterns.reduce((changed, [from, to]) => changed.replace(from, to), word);
};

const words = (text: string): string[] => text.split(' ');
const without =
  (ending: RegExp) =>
  (word: string): string => {
    const rest = fold(word).replace(ending, '');
    return rest.length >= STEM_LENGTH_MIN ? rest : word;
  };
const STEM_LENGTH_MIN = 3;

/** Unifies `Schlüssel`, `Schluessel` and `Schlussel`, but keeps the vowels of `neue` and `Quelle`. */
const germanSpelling = (word: string): string => fold(word).replace(/(?<![aeiouq])([aou])e/g, '$1');
/**
 * Replaces participles and verbs with `zu` by the infinitive: `eingerichtet` and `einzurichten` become `einrichten`. Keeps the
 * `ge` of the Dutch verb `gebruiken`.
 * @param prefixes beginnings of verbs that precede `ge` and `zu`, such as `ein`
 */
function participles(stemmer: (word: string) => string, prefixes: string, more: string) {
  const bare = rewriting(`^(${prefixes})?ge(?!bruik|lang)(.{4,}?)e?[dt]$→$1$2 ^(${prefixes})(?:ge|zu)(?=...)→$1`);
  const others = rewriting(more);
  return (stem: string): string => {
    const verb = bare(stem);
    return others(verb === stem ? stem : fold(stemmer(verb)));
  };
}
const germanForms = participles(
  german,
  'ab|an|auf|aus|bei|ein|fest|frei|heraus|herunter|hin|hinzu|hoch|los|mit|nach|um|vor|weg|weiter|wieder|zu|zuruck|zusammen',
  'eln$→el (?<=....)(?:e?t)+$→ (?<=...)os?$→',
);
/** Removes prefixes of Dutch participles and endings of verbs. Also unifies `prijs` and `prijzen`, `knop` and `knoppen`. */
const dutchForms = participles(
  dutch,
  'aan|af|bij|door|in|mee|na|om|onder|op|over|samen|terug|toe|uit|vast|voor|weg',
  '(?<=..[^aeioun])d$|(?<=..[^aeiou])t$→ ([aeou])\\1(?=[^aeiou]$)→$1 ([^aeiou])\\1$→$1 v$→f z$→s',
);
/** Unifies Scandinavian words with and without an unstressed vowel: `nyckel`, `nycklar`; `konto`, `konti`. */
const UNSTRESSED = '(?<=..e[lr])n$→ (?<=..)e(?=[lnr]$)→ ([^aeiouy])\\1(?=[^aeiouy]?$)→$1 (?<=...)[aeio]$→';
const danishForms = rewriting(UNSTRESSED);
const norwegianForms = (stem: string): string => danishForms(fold(norwegian(stem.replace(/ern$/, 'er'))));
/** Also removes endings that the Swedish stemmer leaves: `kortet`, `sidan`, `skrivit`. */
const swedishForms = rewriting(`(?<=...)(?:(?:et)+|an|it|(?<=o)[nt])$→ ${UNSTRESSED}`);
/** Unifies strong and weak Finnish consonants, plurals and verbs: `hinta`, `hinnat`; `tili`, `tilejä`; `poistettu`, `poistaminen`. */
const finnishForms = rewriting(
  '(?<=...)(?:[aeiouy]*j|[aeiouy]?min|itet|(?<=....)et|im|it|ts(?:ev)?)[aeiouy]*$→ ([kpt])\\1$→$1 (?<=....)an$→ (?<=..)[aeiouy]+$→ ([lnrs])t$→$1 mp$→m ng$→nk ks$→s d$→t (?<=..)v$→p (?<=[aeiouy][uy])t$→s',
);
/** Unifies French words with two stems: `actif`, `active`; `nouveau`, `nouvelle`; `public`, `publique`. */
const frenchForms = rewriting('v$→f eau$→el qu$→c');
/** Replaces plurals that the stemmer mistakes for verbs: `imágenes`. */
const spanishSingular = rewriting('(?<=[áéíóú].{1,3})enes$→en');
const romanianStem = (word: string): string => romanian(word.replaceAll('ș', 'ş').replaceAll('ț', 'ţ'));
const romanianForms = rewriting('(?<=...)(?:ur|il|el|eau)$→ (?<=...)[aeiou]+$→');
/** Unifies Spanish vowels that change with stress, and sounds with two spellings: `probar`, `prueba`; `voz`, `voces`. */
const spanishForms = rewriting('(?<![gq])ue→o ie→e qu$|z$→c gu$→g');
/** Replaces plurals that the stemmer leaves: `botões`, `animais`, `papéis`, `imagens`. Words in `-il` and `-el` share a plural. */
const portugueseSingular = rewriting('[õo]es$→ão [áa]is$→al (?:[ée]is|il)$→el ns$→m');
/** Unifies Russian forms with different vowels, and verbs with their nouns: `ошибка`, `ошибок`; `обновить`, `обновление`. */
const russianForms = rewriting(
  'ь→ (?<=...)ал$→а (?<=[аео])ек$→ик (?<=....)ен$|(?<=....[^аеиоуыэюя])к$→ (?<=.)[аеиоуыэюя]$→ (?<=[бвмпф])л$→ ж$→з (?<=[бвгджзйклмнпрстфхцчшщ])[ео](?=[бвгджзклмнпрстфхцчшщ]$)→',
);
const russianSpelling = (word: string): string => word.replaceAll('ё', 'е');
const greekStem = (word: string): string => greek(word.toUpperCase()).toLowerCase();
const greekForms = rewriting('(?<=...)ι[κσ]$→');
/** Unifies Ukrainian vowels that only some forms have, or that change: `помилка`, `помилок`; `вхід`, `входу`. */
const ukrainianForms = rewriting(
  'ь→ (?<=...)[аяиі]т$→ (?<=[бвгджзклмнпрстфхцчшщ])(?:о(?=к$)|е(?=[клнрц]$))→ і(?=[бвгджзклмнпрстфхцчшщ]$)→о',
);
/** Unifies Polish, Czech and Slovak words with and without `e`, and other sounds: `balíček`, `balíčky`; `stránka`, `stránce`. */
const westSlavicForms = rewriting('rz$→r (?<=[^aeiouy])i?e(?=[^aeiouy]$)→ c$→k');
const HINDI_ENDING = /(?:ियों|ियाँ|ियां|ाओं|ाएँ|ाएं|ुओं|ुएँ|ओं|एँ|एं|ों|ें|ाँ|ां|ी|े|ो|ा|ि|ु|ू)$/u;
const hindi = (word: string): string => fold(word).replace(HINDI_ENDING, '');

/** Unifies Danish spellings, because Danish also writes `å` as `aa`, and `ø` as `oe`. Keeps the endings of `kontoer`. */
const danishSpelling = (word: string): string =>
  fold(word).replace(/oe(?!(?:n|r|t|rne)s?$)|aa/g, (pair) => pair[0] as string);
/** Unifies letters that Arabic and Persian keyboards write differently. */
const arabicSpelling = (word: string): string => fold(word).replace(/[یى]/g, 'ي').replaceAll('ک', 'ك');
const ARABIC_ARTICLE = /^(?:[وف]?(?:[بك]?ال|لل)|[وف](?=ال))(?=\p{L}{3})/u;

/** Unifies Arabic plurals and singulars with different vowels: `أسعار`, `سعر`; `جداول`, `جدول`; `فواتير`, `فاتورة`. */
const brokenPlurals = rewriting('^(.)وا(..)$→$1ا$2 ^ا(..)ا(.)$→$1$2 ^(..)ا(.[^ة])$→$1$2 ^(.)وا(.)ي(.)$→$1ا$2و$3');
/** Removes long vowels that differ in plurals and singulars: `مفتاح`, `مفاتيح`; `رسالة`, `رسائل`. */
const arabicForms = (stem: string): string => {
  const consonants = stem.slice(0, 1) + stem.slice(1).replace(/[اويء]/g, '');
  return consonants.length > 3 ? consonants : stem.replace(/^(\p{L}{2})[اوي](\p{L})$/u, '$1$2');
};

/** Matches a plural ending of which the Arabic stemmer removes only one letter. */
const ARABIC_PLURAL = /(?<=\p{L}{3})ات$/u;
const arabicStem = (word: string): string =>
  arabic(brokenPlurals(word.replace(ARABIC_ARTICLE, '').replace(ARABIC_PLURAL, '')));

/**
 * docshelf's own rules for endings. Those of @orama/stemmers throw an error for Bulgarian, and do not exist for Polish, Czech,
 * Hebrew and Persian.
 */
const bulgarian = without(
  /(?:овете|ищата|ията|ият|ите|ата|ята|ове|ени|ане|ът|ят|та|то|те|ия|ен|на|но|ни|а|я|о|е|и|ъ)$/,
);
const polish = without(
  /(?:[oy]wa(?:ni[eau]|niem|n[oeya]|c)|(?<=u)(?:wanie|wania|waniu|wac|waj|nac)|awanie|awania|awaniu|awac|acych|ujacy|uje|aj|ymi|imi|ach|ami|ego|emu|owi|iem|iej|iow|om|ow|em|ie|ia|iu|ej|ym|im|ych|ich|ac|ic|yc|y|i|a|e|u|o)$/,
);
const czech = without(
  /(?:ovani|ovat|ovan[aoyi]?|(?<=.{4})en(?:im?|[aoy])?|ych|ich|ymi|imi|ami|emi|ach|ech|eho|emu|ovi|um|em|im|(?<![nr])am|ou|ii|at|it|ejte|ete|(?<=.{3})te|y|i|a|e|u|o)$/,
);
const turkish = without(
  /(?<=.{4})(?:m[ae](?:k|y[iu]|s[iu])?|y[iu]n|[iu]?[nl][iu]r|(?:l[ae]r)?(?:[iu]?[mn][iu]z|[iu]?m)?(?:s?[iu]n(?:[iu]n?|d?[ae]n?)|[dt][ae]n?|n?[iu]n|y?[iu]|s[iu]|y?[ae]|yl[ae])?)$/,
);
const turkishForms = rewriting('(?<=...)[aeiou]$→ b$→p g$→k d$→t');
const hungarianOnce = rewriting(
  '(?<=...)(?:[aáeé]im|[aeoö]?[kmt]|b[ae]n?|[brt][óő]l|h[oeö]z|n[ae]k|[oeö]n|r[ae]|n[áé]l|ig|ért|v[ae]l|ként|ni|[aáeéi])$→',
);
const hungarian = (word: string): string => (hungarianOnce(word) === word ? word : hungarian(hungarianOnce(word)));
const ukrainian = without(
  /(?:[ую]ван(?:н[яіюь]|ь)|[еая](?:нн[яіюь]м?|нь)|(?<=\p{L}{3})(?:[ую]вати|[аяиі]ти(?:ся)?|[ая]є(?:ться)?|ен[оаиіу])|ує(?:ться)?|ю?ють(?:ся)?|[уюая]ть(?:ся)?|ен(?:ий|ого|их)|[ая]ми|[оеє]ві|ів|їв|[ая]х|[оеє]м|[оеє]ю|[ая]м|ого|ому|ими|их|[иі]й|[аяоеєиіїуюь])$/u,
);
const FINAL_FORMS: Readonly<Record<string, string>> = { ך: 'כ', ם: 'מ', ן: 'נ', ף: 'פ', ץ: 'צ' };
/** Removes Hebrew endings, particles before a word, and the letter vav inside a word, which many spellings omit. */
const hebrew = (word: string): string => {
  const rest = word.replace(/(?<=.{2})(?:ויות|יות|י?יה|ית|(?:ות|ת)?ים|ות|ה|ת)$/, '');
  const stem = rest.replace(/^[ושהבלמכ]+(?=[\u05d0-\u05ea]{3})/, '');
  return stem.replace(/(?<=.)ו(?=.)/g, '').replace(/[ךםןףץ]/g, (letter) => FINAL_FORMS[letter] ?? letter);
};
const persian = without(/(?:هايي|هاي|ها|اي|ي)$/);

const FRENCH_STOPS = 'comment combien lorsqu lorsque où pourquoi puisqu puisque quand quel quelle quelles quels';
const POLISH_STOPS =
  'a aby albo ale bez bo być co czy dla do gdy i ich ile in jak jako je jego jej jest jeśli już kiedy która które który lub ma mnie mogę można na nad nie niż o od oraz po pod przez przy są się ta tak te tego tej ten to tym w we z za ze że';
const CZECH_STOPS =
  'a aby ale ani bez být co do i jak jako je jeho její jejich jen ji k když která které který kde ke lze mezi mi mohu může na nad ne nebo není o od po pod podle pro proč při s se si své ta tak také ten to tu u v ve více z za ze že';
const HEBREW_STOPS =
  'אבל או אותה אותו אחרי איך אין איפה אל אם אני אנחנו את אתה בין גם הוא היא הם זאת זה זו יש כדי כי כל כמו לא לי למה מה מי מתי על עם עד של';
const PERSIAN_STOPS = 'از است این آن با برای به تا چه چرا چگونه چیست در را شود که کجا کند کنم می من ما و هر هم یا یک';

export const ENGLISH: WordLanguage = {
  code: 'en',
  script: 'Latn',
  stopWords: STOP_WORDS,
  hasParts: false,
  isCompounding: false,
  stem: (word) => stem(fold(word)),
  unify: same,
};

/** Chinese, Japanese, Korean and Thai are indexed by pairs of characters. English rules apply to Latin words in these texts. */
const CHINESE: WordLanguage = { ...ENGLISH, code: 'zh', script: 'other', stopWords: new Set() };
const PAIRS: WordLanguage = { ...CHINESE, code: 'other' };

const cyrillic = { script: 'Cyrl' } as const;
const compounds = { isCompounding: true } as const;
const LANGUAGES: ReadonlyMap<string, WordLanguage> = new Map(
  [
    ENGLISH,
    CHINESE,
    PAIRS,
    ...['ja', 'ko', 'th', 'lo', 'km', 'my'].map((code) => ({ ...PAIRS, code })),
    language('ar', arabicStem, { script: 'Arab', stops: arabicStops, before: arabicSpelling, unify: arabicForms }),
    language('bg', bulgarian, { ...cyrillic, stops: bulgarianStops, unify: rewriting('ц$→к') }),
    language('cs', czech, { stops: words(CZECH_STOPS), unify: westSlavicForms }),
    language('da', danish, { ...compounds, stops: danishStops, before: danishSpelling, unify: danishForms }),
    language('de', german, { ...compounds, stops: germanStops, before: germanSpelling, unify: germanForms }),
    language('el', greekStem, { script: 'Grek', stops: greekStops, before: fold, unify: greekForms }),
    language('es', spanish, { stops: spanishStops, before: spanishSingular, unify: spanishForms }),
    // Use the Spanish stemmer for Catalan and Galician, because their endings are similar.
    ...['ca', 'gl'].map((code) => language(code, spanish)),
    language('fa', persian, { script: 'Arab', stops: words(PERSIAN_STOPS), before: arabicSpelling }),
    language('fi', finnish, { ...compounds, stops: finnishStops, before: fold, unify: finnishForms }),
    language('fr', french, { stops: [...frenchStops, ...words(FRENCH_STOPS)], unify: frenchForms }),
    language('he', hebrew, { script: 'Hebr', stops: words(HEBREW_STOPS), before: fold }),
    language('hi', hindi, { script: 'other' }),
    language('hu', hungarian, { ...compounds, stops: hungarianStops }),
    language('id', indonesian, { stops: indonesianStops }),
    language('it', italian, { stops: italianStops, before: rewriting('avi$→ave') }),
    language('lt', lithuanian, { stops: lithuanianStops }),
    language('nl', dutch, { ...compounds, stops: dutchStops, before: fold, unify: dutchForms }),
    language('no', norwegian, { ...compounds, stops: norwegianStops, before: danishSpelling, unify: norwegianForms }),
    language('pl', polish, { stops: words(POLISH_STOPS), before: rewriting('ąd$→ęd'), unify: westSlavicForms }),
    language('pt', portuguese, { stops: portugueseStops, before: portugueseSingular }),
    language('ro', romanianStem, { stops: romanianStops, unify: romanianForms }),
    language('ru', russian, { ...cyrillic, stops: russianStops, before: russianSpelling, unify: russianForms }),
    language('sk', czech, { stops: words(CZECH_STOPS), unify: westSlavicForms }),
    language('sv', swedish, { ...compounds, stops: swedishStops, before: fold, unify: swedishForms }),
    language('tr', turkish, { stops: turkishStops, unify: turkishForms }),
    language('uk', ukrainian, { ...cyrillic, stops: ukrainianStops, unify: ukrainianForms }),
  ].map((each) => [each.code, each]),
);

const ALIASES: Readonly<Record<string, string>> = { nb: 'no', nn: 'no', in: 'id', iw: 'he', yue: 'zh', cmn: 'zh' };

const OF_SCRIPT: Readonly<Record<Script, WordLanguage>> = {
  Latn: ENGLISH,
  Cyrl: LANGUAGES.get('ru') ?? ENGLISH,
  Grek: LANGUAGES.get('el') ?? ENGLISH,
  Arab: LANGUAGES.get('ar') ?? ENGLISH,
  Hebr: LANGUAGES.get('he') ?? ENGLISH,
  other: PAIRS,
};

/** Returns a language without stems if docshelf has no rules for the tag. @param tag BCP 47 */
export function languageOf(tag: string): WordLanguage {
  const code = /^[a-z]+/i.exec(tag)?.[0].toLowerCase() ?? 'en';
  const known = ALIASES[code] ?? code;
  return LANGUAGES.get(known) ?? language(known, same, {});
}

/** A word in another script than its page, such as `Docker` on a Russian page, has the usual language of its script. */
function languageOfWord(spelling: string, language: WordLanguage): WordLanguage {
  const own = scriptOf(spelling);
  return own === language.script || own === 'other' ? language : OF_SCRIPT[own];
}

export function stemOf(spelling: string, language: WordLanguage): string {
  return languageOfWord(spelling, language).stem(spelling);
}

/**
 * Index term of a word. Except for English, a stem has a language prefix, so that `servic` of `serviços` does not match
 * `services`. Identifiers, such as `maxRetryCount`, have English stems in every language.
 */
export function keyOf({ spelling, parts }: Pick<Word, 'spelling' | 'parts'>, language: WordLanguage): string {
  const own = parts.length > 0 ? ENGLISH : languageOfWord(spelling, language);
  const stemmed = own.unify(own.stem(spelling));
  return own.hasParts && WORD_OF_LETTERS.test(stemmed) ? `${own.code}_${stemmed}` : stemmed;
}

function scriptOf(word: string): Script {
  const code = word.charCodeAt(0);
  if (code < 0x370 || (code >= 0x1e00 && code < 0x1f00)) return 'Latn';
  if (code < 0x400 || (code >= 0x1f00 && code < 0x2000)) return 'Grek';
  if (code < 0x530) return 'Cyrl';
  if (code >= 0x590 && code < 0x600) return 'Hebr';
  return (code >= 0x600 && code < 0x780) || code >= 0xfb50 ? 'Arab' : 'other';
}

/** Minimum number of different stop words in prose, and minimum share of stop words in all words. Code has a lower share. */
const LEAST = { kinds: 3, share: 0.15 };
const LIKELY = { kinds: 5, share: 0.25 };
const LETTERS = /\p{L}+/gu;
export const SAMPLE_LENGTH = 1_000;

/** Finds the language by script and stop words. Null if the language is not clear. @param likely language to check first */
export function detectLanguage(text: string, likely: WordLanguage = ENGLISH): WordLanguage | null {
  const sample = text.slice(0, SAMPLE_LENGTH).toLowerCase();
  const words = (sample.match(LETTERS) ?? []).map(fold);
  if (isProse(stopsOf(words, likely), words, LIKELY)) return likely;
  const found = Map.groupBy(words, scriptOf);
  const [script, own = []] = [...found].sort(([, left], [, right]) => right.length - left.length)[0] ?? [];
  if (script === undefined) return null;
  if (script === 'other') return unspacedLanguage(sample);
  const counts = [...LANGUAGES.values()]
    .filter((each) => each.script === script && each.stopWords.size > 0)
    .map((each) => ({ each, stops: stopsOf(own, each) }))
    .sort((left, right) => right.stops.length - left.stops.length);
  const [first, second] = counts;
  if (first === undefined || !isProse(first.stops, own, LEAST)) return script === 'Latn' ? null : OF_SCRIPT[script];
  const isClear = first.stops.length >= 2 * (second?.stops.length ?? 0) || script !== 'Latn';
  return isClear || NEAR.includes(`${first.each.code} ${second?.each.code}`) ? first.each : null;
}

function stopsOf(words: readonly string[], { stopWords }: WordLanguage): string[] {
  return words.filter((word) => word.length > 1 && stopWords.has(word));
}

function isProse(stops: readonly string[], words: readonly string[], { kinds, share }: typeof LEAST): boolean {
  return stops.length >= share * words.length && new Set(stops).size >= kinds;
}

/** Returns German for the path `/de/guide`, and null if the path names no language. */
export function languageOfPath(path: string): WordLanguage | null {
  const code = /^\/([a-z]{2})(?:-[a-z]{2,4})?\//i.exec(path)?.[1]?.toLowerCase() ?? '';
  return LANGUAGES.get(ALIASES[code] ?? code) ?? null;
}

/** Pairs of languages that share most stop words and have similar stemmers. */
const NEAR = ['da no', 'no da', 'es pt', 'pt es', 'cs sk', 'sk cs', 'sv no', 'no sv', 'sv da', 'da sv'];

function unspacedLanguage(text: string): WordLanguage | null {
  const count = (characters: RegExp): number => text.match(characters)?.length ?? 0;
  const kana = count(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu);
  const chinese = count(/\p{Script=Han}/gu) + kana;
  const korean = count(/\p{Script=Hangul}/gu);
  const thai = count(/\p{Script=Thai}/gu);
  if (korean > Math.max(chinese, thai)) return languageOf('ko');
  if (thai > chinese) return languageOf('th');
  if (kana > 0) return languageOf('ja');
  return chinese > 0 ? CHINESE : PAIRS;
}

/** Pairs of characters with which writers or regions write the same word, as in 帐户 and 账户, 計畫 and 计划. */
const VARIANTS = new Map(
  Array.from('帐账 瞭了 划画 藉借 著着 祇只 覆复'.split(' '), (pair) => [...pair] as [string, string]),
);
const SIMPLIFIED: ReadonlyMap<string, string> = new Map([
  ...VARIANTS,
  ...traditional
    .split('|')
    .map((pair) => pair.split(' ') as [string, string])
    .filter(([from, to]) => from.length === to.length)
    .map(([from, to]): [string, string] => [from, VARIANTS.get(to) ?? to]),
]);

/** Replaces traditional with simplified Chinese characters, and keeps the length. */
export function simplify(run: string): string {
  return run.replace(/\p{Script=Han}/gu, (character) => SIMPLIFIED.get(character) ?? character);
}

/**
 * Different words of equal length for the same thing in Taiwan and mainland China, as in 資料庫 and 数据库, in simplified characters.
 */
const REGIONAL = new Map(
  (simplify(regional).match(/(?<=^|\|)(\p{Script=Han}{2,}) \p{Script=Han}+/gu) ?? [])
    .map((pair) => pair.split(' ') as [taiwan: string, mainland: string])
    .flatMap(([one, other]) => (one.length === other.length ? [[one, other] as const, [other, one] as const] : [])),
);
const REGIONAL_WORD = new RegExp([...REGIONAL.keys()].sort((left, right) => right.length - left.length).join('|'), 'g');

/** Replaces Taiwanese words by the words of mainland China, and the other way round, so that a query finds pages from both regions. */
export function otherRegion(simplified: string): string {
  return simplified.replace(REGIONAL_WORD, (word) => REGIONAL.get(word) ?? word);
}
