import type { SettingsReader } from './settings-reader.ts';

export type NavigationEntry =
  /** A page, as the folder or as a reader names it: `guides/start`, `guides/start.md`. */
  | { readonly kind: 'page'; readonly name: string }
  | { readonly kind: 'link'; readonly title: string; readonly href: string }
  | { readonly kind: 'group'; readonly title: string; readonly entries: readonly NavigationEntry[] };

export interface LanguageSettings {
  /** As `languageTag` spells it: `fr`, `pt-BR`. */
  readonly code: string;
  readonly name: string | null;
  /** Its own navigation; null: the site's. */
  readonly navigation: readonly NavigationEntry[] | null;
}

/** Levels of groups: what a reader can still follow, with room. */
const DEPTH_MAX = 16;
/** Keys of a group's entries and of its title; other programs have several. */
const ENTRY_KEYS = ['pages', 'groups', 'tabs'] as const;
const TITLE_KEYS = ['group', 'tab', 'title'] as const;

/** `navigation` as a list of entries, or as an object that holds one. Null: not written. */
export function readNavigation(settings: SettingsReader): readonly NavigationEntry[] | null {
  const value = settings.value('navigation');
  if (value === null) return null;
  if (!settings.isObject('navigation')) return readEntries(settings, 'navigation', 1);
  const section = settings.section('navigation');
  return section === null || section.value('languages') !== null ? null : entriesOf(section, 1);
}

export function readLanguages(settings: SettingsReader): readonly LanguageSettings[] {
  const inNavigation = settings.isObject('navigation') ? settings.section('navigation')?.list('languages') : undefined;
  const listed = settings
    .items('languages')
    .map((value, index) =>
      typeof value === 'string'
        ? { code: settings.languageAt(`languages[${index}]`, value), name: null, navigation: null }
        : readLanguage(settings.item('languages', value, index)),
    );
  return listed.length > 0 ? listed : (inNavigation ?? []).map(readLanguage);
}

function readLanguage(language: SettingsReader): LanguageSettings {
  const key = language.value('code') === null ? 'language' : 'code';
  const own = ENTRY_KEYS.some((name) => language.value(name) !== null) ? entriesOf(language, 1) : null;
  return {
    code: language.languageAt(key, language.needText(key)),
    name: language.text('name'),
    navigation: readNavigation(language) ?? own,
  };
}

function readEntries(settings: SettingsReader, key: string, depth: number): readonly NavigationEntry[] {
  if (depth > DEPTH_MAX) throw settings.fault(key, `is more than ${DEPTH_MAX} groups deep`);
  return settings.items(key).map((value, index): NavigationEntry => {
    if (typeof value === 'string') return { kind: 'page', name: value };
    const entry = settings.item(key, value, index);
    const titleKey = TITLE_KEYS.find((name) => entry.value(name) !== null);
    if (titleKey !== undefined && entry.value('href') === null) {
      return { kind: 'group', title: entry.needText(titleKey), entries: entriesOf(entry, depth + 1) };
    }
    return { kind: 'link', title: entry.text('label') ?? entry.needText('title'), href: entry.needText('href') };
  });
}

function entriesOf(settings: SettingsReader, depth: number): readonly NavigationEntry[] {
  return ENTRY_KEYS.flatMap((key) => readEntries(settings, key, depth));
}
