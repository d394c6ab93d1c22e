import type { Section } from '../../section.ts';

/** Of the table `sections`. */
export type StoredSection = Omit<Section, 'headings' | 'tags' | 'documentTitle'> & {
  readonly documentTitle: string | null;
  readonly headings: string;
  readonly tags: string;
};

export function sectionOf({ headings, tags, documentTitle, ...row }: StoredSection): Section {
  const ofDocument = documentTitle === null ? {} : { documentTitle };
  return { ...row, ...ofDocument, headings: JSON.parse(headings), tags: JSON.parse(tags) };
}
