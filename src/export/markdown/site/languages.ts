import { languageTag } from '../../../web/language-tag.ts';
import type { LanguageSettings, NavigationEntry } from '../source/navigation-settings.ts';
import { type Words, wordsOf } from './words.ts';

export interface Language {
  readonly code: string;
  readonly name: string;
  readonly direction: 'ltr' | 'rtl';
  /** The folder of its pages: `fr/`, or empty for the root. */
  readonly folder: string;
  readonly words: Words;
  readonly navigation: readonly NavigationEntry[] | null;
}

/** Written from right to left: the languages in use whose usual script is Arabic, Hebrew, Syriac or Thaana. */
const RIGHT_TO_LEFT = new Set('ar arc ckb dv fa he ks ps sd syr ug ur yi'.split(' '));
const RIGHT_TO_LEFT_SCRIPTS = new Set(['Arab', 'Hebr', 'Syrc', 'Thaa', 'Nkoo']);
/** Names of folders that may hold a language; longer codes are words too often. */
const SHORT_CODE = /^[a-z]{2}(?:[-_][A-Za-z]{2,4})?$/;
/** The share of a folder's pages that another language must have too, for the folder to be a translation. */
const COUNTERPARTS_MIN = 0.5;

interface LanguageFacts {
  readonly declared: readonly LanguageSettings[];
  readonly defaultCode: string | null;
  readonly pages: readonly string[];
  readonly named: readonly string[];
}

/** The default one first: those of `docs.json`, else top folders that are translations; and those that pages name. */
export function findLanguages({ declared, defaultCode, pages, named }: LanguageFacts): readonly Language[] {
  const folders = [...new Set(pages.flatMap((path) => /^([^/]*)\//.exec(path)?.[1] ?? []))];
  const translations = declared.length > 0 ? [] : translationFolders(folders, pages);
  const hasRootPages = pages.some((path) => !translations.some((folder) => path.startsWith(`${folder}/`)));
  const found =
    declared.length > 0 ? declared : translations.map((folder) => undeclared(languageTag(folder) ?? folder));
  const first = defaultCode ?? declared[0]?.code ?? (hasRootPages ? 'en' : (found[0]?.code ?? 'en'));
  const byCode = Map.groupBy([...found, ...[first, ...named].map(undeclared)], ({ code }) => code);
  return [...byCode.values()]
    .flatMap(([language]) => language ?? [])
    .sort((a, b) => Number(b.code === first) - Number(a.code === first))
    .map((language) => languageOf(language, folders));
}

/** The language of a page: the one that it names, else that of its folder, else the default one. */
export function languageOfPage(path: string, named: string | null, languages: readonly Language[]): Language {
  const byName = named === null ? undefined : languages.find(({ code }) => code === named);
  const byFolder = languages.find(({ folder }) => folder !== '' && path.startsWith(folder));
  const language = byName ?? byFolder ?? languages[0];
  if (language === undefined) throw new Error('a site has at least one language');
  return language;
}

/** A key shared by translations: the address without the language's folder, or without `.fr` at its end. */
export function translationKey(address: string, language: Language): string {
  if (language.folder !== '' && address.startsWith(language.folder)) return address.slice(language.folder.length);
  return address.endsWith(`.${language.code}`) ? address.slice(0, -language.code.length - 1) : address;
}

function undeclared(code: string): LanguageSettings {
  return { code, name: null, navigation: null };
}

function languageOf({ code, name, navigation }: LanguageSettings, folders: readonly string[]): Language {
  const folder = folders.find((each) => languageTag(each) === code);
  const [language = '', script = ''] = code.split('-');
  return {
    code,
    name: name ?? autonymOf(code),
    direction: RIGHT_TO_LEFT.has(language) || RIGHT_TO_LEFT_SCRIPTS.has(script) ? 'rtl' : 'ltr',
    folder: folder === undefined ? '' : `${folder}/`,
    words: wordsOf(code),
    navigation,
  };
}

function autonymOf(code: string): string {
  const name = displayName(code, code) ?? code;
  return name.charAt(0).toLocaleUpperCase(code) + name.slice(1);
}

function translationFolders(folders: readonly string[], pages: readonly string[]): readonly string[] {
  const candidates = folders.filter((folder) => SHORT_CODE.test(folder) && isKnownLanguage(folder));
  const all = new Set(pages);
  return candidates.filter((folder) => {
    const own = pages.filter((path) => path.startsWith(`${folder}/`)).map((path) => path.slice(folder.length + 1));
    const others = ['', ...candidates.filter((other) => other !== folder).map((other) => `${other}/`)];
    const shared = own.filter((path) => others.some((other) => all.has(other + path)));
    return shared.length >= own.length * COUNTERPARTS_MIN;
  });
}

function isKnownLanguage(folder: string): boolean {
  const tag = languageTag(folder);
  return tag !== null && displayName(tag, 'en') !== null;
}

/** Null for a tag without a name. Only language, script, region and variants are named: of extensions Intl throws. */
function displayName(tag: string, language: string): string | null {
  const { baseName } = new Intl.Locale(tag);
  return new Intl.DisplayNames([language], { type: 'language', fallback: 'none' }).of(baseName) ?? null;
}
