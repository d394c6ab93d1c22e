import type { Section } from '../section.ts';
import { Fingerprints } from './fingerprints.ts';

/** The part of a page that decides which of two equal sections stays. */
export interface PageRank {
  readonly page: string;
  /** From its canonical address: the folders before it, 64 where it says none, 65 where that is another page's. */
  readonly distance: number;
}

export type Verdict =
  | { readonly kept: false }
  /** `replaced` is the handle of the equal section that was kept until now, and goes; null where there was none. */
  | { readonly kept: true; readonly replaced: number | null };

/** Pages without a canonical stand between those whose canonical is their own address and those whose is another's. */
const NO_CANONICAL = 64;
const ELSEWHERE = 65;
const FINGERPRINTS_AT_FIRST = 1024;

/**
 * Tells sections that stand under two paths: the same title, headings and text within one documentation version and
 * language. The page that is its own canonical wins, else the shorter and then the first path; the outcome does not depend
 * on the order. Keeps a fingerprint and a handle a section.
 */
export class Duplicates {
  readonly #fingerprints = new Fingerprints();
  /** By the number of the fingerprint: the handle of the section that is kept, and the number of its page. */
  #kept = new Uint32Array(2 * FINGERPRINTS_AT_FIRST);
  /** One for each page; the last is the page whose sections come now. */
  readonly #ranks: PageRank[] = [];

  /**
   * @param rank of its page, one object for all of the page's sections: it is kept
   * @param handle what the caller knows the section by, given back when a better one replaces it; 32 bits
   */
  add(rank: PageRank, section: Section, handle: number): Verdict {
    if (this.#ranks.at(-1) !== rank) this.#ranks.push(rank);
    const { count } = this.#fingerprints;
    const number = this.#fingerprints.numberOf(wordsOf(section));
    if (2 * this.#fingerprints.count > this.#kept.length) this.#grow();
    const [former = 0, formerPage = 0] = this.#kept.subarray(2 * number, 2 * number + 2);
    const rival = number < count ? this.#ranks[formerPage] : undefined;
    if (rival !== undefined && !isBetter(rank, rival)) return { kept: false };
    this.#kept[2 * number] = handle;
    this.#kept[2 * number + 1] = this.#ranks.length - 1;
    return { kept: true, replaced: rival === undefined ? null : former };
  }

  #grow(): void {
    const kept = new Uint32Array(2 * this.#kept.length);
    kept.set(this.#kept);
    this.#kept = kept;
  }
}

export function rankOf({ page, canonical }: { readonly page: string; readonly canonical: string | null }): PageRank {
  return { page, distance: canonicalDistance(page, canonical) };
}

function wordsOf({ version, language, title, headings, text }: Section): string {
  return JSON.stringify([version, language, title, headings, text]);
}

function isBetter(candidate: PageRank, rival: PageRank): boolean {
  if (candidate.distance !== rival.distance) return candidate.distance < rival.distance;
  if (candidate.page.length !== rival.page.length) return candidate.page.length < rival.page.length;
  return candidate.page < rival.page;
}

/**
 * How far a page is from its canonical address: the folders before it, since a site may have been published under a prefix
 * (`/en/latest`), and 65 where it ends in another page's path.
 */
function canonicalDistance(page: string, canonical: string | null): number {
  if (canonical === null) return NO_CANONICAL;
  const own = plainPath(page);
  const other = plainPath(canonical);
  if (!other.endsWith(own)) return ELSEWHERE;
  return Math.min(other.slice(0, other.length - own.length).split('/').length - 1, NO_CANONICAL - 1);
}

/** A path without what its form may add: extension, index, slash. */
function plainPath(path: string): string {
  return path.replace(/(?:\/index)?\.x?html?$/i, '').replace(/\/$/, '');
}
