import { Fingerprints, fingerprint, GrowableUint32Array } from '../compact.ts';
import type { Section } from '../ports.ts';

interface PageRank {
  readonly page: string;
  readonly distance: number;
}

type Verdict = { readonly kept: false } | { readonly kept: true; readonly replaced: number | null };

const NO_CANONICAL = 64;
const ELSEWHERE = 65;

export function fingerprintOf({ version, language, title, headings, text }: Section): Uint8Array {
  return fingerprint(JSON.stringify([version, language, title, headings, text]));
}

/**
 * Keeps one of several sections with equal title, headings, text, version and language. Prefers the section whose page is nearest
 * to its canonical URL, then the shortest path, then the first path in sort order. The order of calls does not matter.
 */
export class Duplicates {
  readonly #fingerprints = new Fingerprints();
  readonly #kept = new GrowableUint32Array();
  readonly #ranks: PageRank[] = [];
  #rank: PageRank | null = null;

  add(rank: PageRank, prints: Uint8Array, handle: number, at = 0): Verdict {
    if (this.#rank !== rank) this.#ranks.push({ page: rank.page, distance: rank.distance });
    this.#rank = rank;
    const number = this.#fingerprints.add(prints, at);
    const page = this.#ranks.length - 1;
    if (2 * number === this.#kept.length) {
      this.#kept.push(handle);
      this.#kept.push(page);
      return { kept: true, replaced: null };
    }
    const rival = this.#ranks[this.#kept.at(2 * number + 1)] as PageRank;
    if (!isBetter(rank, rival)) return { kept: false };
    const replaced = this.#kept.at(2 * number);
    this.#kept.set(2 * number, handle);
    this.#kept.set(2 * number + 1, page);
    return { kept: true, replaced };
  }
}

export function rankOf({ page, canonical }: { readonly page: string; readonly canonical: string | null }): PageRank {
  return { page, distance: canonicalDistance(page, canonical) };
}

function isBetter(candidate: PageRank, rival: PageRank): boolean {
  if (candidate.distance !== rival.distance) return candidate.distance < rival.distance;
  if (candidate.page.length !== rival.page.length) return candidate.page.length < rival.page.length;
  return candidate.page < rival.page;
}

function canonicalDistance(page: string, canonical: string | null): number {
  if (canonical === null) return NO_CANONICAL;
  const own = plainPath(page);
  const other = plainPath(canonical);
  if (!other.endsWith(own)) return ELSEWHERE;
  return Math.min(other.slice(0, other.length - own.length).split('/').length - 1, NO_CANONICAL - 1);
}

/** Address of a page without its extension, `index` and trailing slash. */
export function plainPath(path: string): string {
  return path.replace(/(?:\/index)?\.x?html?$/i, '').replace(/\/$/, '');
}
