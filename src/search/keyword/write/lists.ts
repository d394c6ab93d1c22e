import type { Section } from '../../section.ts';
import { titleKey } from '../words.ts';

/** What sections are listed by, beside their words. `unsaid` has one key, `version`: the sections that say none. */
export type ListKind = 'title' | 'documentTitle' | 'version' | 'unsaid' | 'tag' | 'language';

/** Between a document title and the title of a page under it; neither has it. */
export const UNDER = '\t';

/** The name of a list among the terms, none of which has a space. */
export function listName(kind: ListKind, key: string): string {
  return `${kind} ${key}`;
}

/** The lists that a section stands in. @param isOfPage the first section of its page, which stands for the page's titles */
export function listsOf(
  { title, documentTitle = '', language, version, tags }: Section,
  isOfPage: boolean,
): readonly string[] {
  const keys: [ListKind, string][] = Array.from(new Set(tags), (tag) => ['tag', tag]);
  if (language !== null) keys.push(['language', languageKey(language)]);
  keys.push(version === null ? ['unsaid', 'version'] : ['version', version]);
  if (isOfPage) {
    const [ofPage, ofDocument] = [titleKey(title), titleKey(documentTitle)];
    keys.push(['title', ofPage], ['documentTitle', ofDocument && ofDocument + UNDER + ofPage]);
  }
  return keys.filter(([, key]) => key !== '').map(([kind, key]) => listName(kind, key));
}

export function languageKey(language: string): string {
  return language.toLowerCase().replaceAll('_', '-');
}
