import { type ExtractedPage, type PageRank, rankOf } from '../extract/index.ts';
import { FINGERPRINT_BYTES } from '../fingerprints.ts';
import { digestOf, fingerprintOf } from '../section-digest.ts';
import { linkPrints } from './page-priors.ts';

/** What is decided by of a page, without its words. */
export interface PageSummary extends PageRank {
  /** In Base64, as `sections`: of `linkPrints`. */
  readonly links: string;
  /** Fingerprint and digest of each section. */
  readonly sections: string;
}

export function summaryOf(page: ExtractedPage): PageSummary {
  const prints = page.sections.flatMap((section) => {
    const fingerprint = fingerprintOf(section);
    return [fingerprint, digestOf(section, page.page, fingerprint)];
  });
  return {
    ...rankOf(page),
    links: linkPrints(page.links).toString('base64'),
    sections: Buffer.concat(prints).toString('base64'),
  };
}

/** Of `linkPrints`. */
export function linksOf({ links }: PageSummary): Uint8Array {
  return Buffer.from(links, 'base64');
}

export function printsOf({ sections }: PageSummary) {
  const bytes = Buffer.from(sections, 'base64');
  return Array.from({ length: bytes.length / (2 * FINGERPRINT_BYTES) }, (_, at) => {
    const start = 2 * FINGERPRINT_BYTES * at;
    const middle = start + FINGERPRINT_BYTES;
    return {
      fingerprint: bytes.subarray(start, middle),
      digest: bytes.subarray(middle, middle + FINGERPRINT_BYTES),
    };
  });
}
