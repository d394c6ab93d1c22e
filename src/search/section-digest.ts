import { fingerprint } from './fingerprints.ts';
import type { Section } from './section.ts';

/** Of what a section says, wherever it stands. */
export function fingerprintOf({ version, language, title, headings, text }: Section): Uint8Array {
  return fingerprint(JSON.stringify([version, language, title, headings, text]));
}

/** Of all that the index has of a section but the page's prior: sections of the same digest are the same to it. */
export function digestOf(section: Section, page: string, said = fingerprintOf(section)): Uint8Array {
  const { path, documentTitle = null, tags } = section;
  const print = Buffer.from(said).toString('latin1');
  return fingerprint(JSON.stringify([print, page, path, documentTitle, tags]));
}
