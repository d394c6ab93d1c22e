import { fingerprint } from '../fingerprint.ts';
import type { Section } from '../ports.ts';

interface PageRank {
  readonly page: string;
  readonly distance: number;
}

type Verdict = { readonly kept: false } | { readonly kept: true; readonly replaced: number | null };

const NO_CANONICAL = 64;
const ELSEWHERE = 65;

export function fingerprintOf({ version, language, title, headings, text }: Section): string {
  return fingerprint(JSON.stringify([version, language, title, headings, text]));
}

/**
 * Keeps one of several sections with equal title, headings, text, version and language. Prefers the section whose page is nearest
 * to its canonical URL, then the shortest path, then the first path in sort order. The order of calls does not matter.
 */
export class Duplicates {
  readonly #kept = new Map<string, PageRank & { readonly handle: number }>();

  add({ page, distance }: PageRank, fingerprint: string, handle: number): Verdict {
    const rival = this.#kept.get(fingerprint);
    if (rival !== undefined && !isBetter({ page, distance }, rival)) return { kept: false };
    this.#kept.set(fingerprint, { page, distance, handle });
    return { kept: true, replaced: rival?.handle ?? null };
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
