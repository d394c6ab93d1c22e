import { type ExtractedPage, rankOf } from '../extract/index.ts';
import { FINGERPRINT_BYTES, joined } from '../fingerprints.ts';
import { digestOf, fingerprintOf } from '../section-digest.ts';
import { linkPrints } from './page-priors.ts';

/** Of a section in `PageSummary.sections`: its fingerprint, then its digest. */
export const SECTION_BYTES = 2 * FINGERPRINT_BYTES;

/** What is decided by of a page, without its words. */
export interface PageSummary {
  /** Of `PageRank`. */
  readonly distance: number;
  /** Of `linkPrints`. */
  readonly links: Uint8Array;
  /** `SECTION_BYTES` of each. */
  readonly sections: Uint8Array;
}

export function summaryOf(page: ExtractedPage): PageSummary {
  const prints = page.sections.flatMap((section) => {
    const fingerprint = fingerprintOf(section);
    return [fingerprint, digestOf(section, page.page, fingerprint)];
  });
  return { distance: rankOf(page).distance, links: linkPrints(page.links), sections: joined(prints) };
}
