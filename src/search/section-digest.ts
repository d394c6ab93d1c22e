import { hash } from 'node:crypto';
import { FINGERPRINT_BYTES } from './fingerprints.ts';
import type { Section } from './section.ts';

/** Of what a section says, wherever it stands. */
export function fingerprintOf({ version, language, title, headings, text }: Section): Uint8Array {
  return first(hash('sha256', JSON.stringify([version, language, title, headings, text]), 'buffer'));
}

/** Of all that the index has of a section but the page's prior: sections of the same digest are the same to it. */
export function digestOf(section: Section, page: string, fingerprint = fingerprintOf(section)): Uint8Array {
  const { path, documentTitle = null, tags } = section;
  const print = Buffer.from(fingerprint).toString('latin1');
  return first(hash('sha256', JSON.stringify([print, page, path, documentTitle, tags]), 'buffer'));
}

const first = (digest: Uint8Array): Uint8Array => digest.subarray(0, FINGERPRINT_BYTES);
