import type { SearchFacet } from '../../../domain/search.ts';
import { languageTag } from '../../../web/language-tag.ts';

/** Choices of one kind at the most. */
export const FACET_MAX = 50;

export type Facets = Readonly<Record<SearchFacet, readonly string[]>>;

/** Kinds of the lists that an index keeps. */
const KINDS = { languages: 'language', versions: 'version', tags: 'tag' } as const;

/**
 * What readers can choose from: where all sections are alike there is nothing to choose.
 * @param keysOf of a list, the most frequent first
 */
export function facetsOf(keysOf: (kind: (typeof KINDS)[SearchFacet]) => readonly string[]): Facets {
  const of = (facet: SearchFacet, shown: (key: string) => string = (key) => key): readonly string[] => {
    const keys = keysOf(KINDS[facet]).slice(0, FACET_MAX);
    return keys.length > 1 ? keys.map(shown) : [];
  };
  // Languages are kept in lower case.
  return { languages: of('languages', (key) => languageTag(key) ?? key), versions: of('versions'), tags: of('tags') };
}
