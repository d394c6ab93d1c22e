import { createHash } from 'node:crypto';
import type { Section } from '../section.ts';

/** The part of a page that decides which of two equal sections stays. */
export interface PageIdentity {
  readonly page: string;
  readonly canonical: string | null;
}

export type Verdict<Handle> =
  | { readonly kept: false }
  /** `replaced` is the handle of the equal section that was kept until now, and goes; null where there was none. */
  | { readonly kept: true; readonly replaced: Handle | null };

interface Kept<Handle> {
  readonly handle: Handle;
  readonly page: string;
  readonly distance: number;
}

/** Pages without a canonical stand between those whose canonical is their own address and those whose is another's. */
const NO_CANONICAL = 64;
const ELSEWHERE = 65;

/**
 * Tells sections that stand under two paths: the same title, headings and text within one documentation version and
 * language. The page that is its own canonical wins, else the shorter and then the first path; the outcome does not depend
 * on the order. Keeps 132 bits of digest and one handle a section.
 */
export class Duplicates<Handle> {
  readonly #kept = new Map<string, Kept<Handle>>();

  /** @param handle what the caller knows the section by, given back when a better one replaces it. */
  add({ page, canonical }: PageIdentity, section: Section, handle: Handle): Verdict<Handle> {
    const digest = digestOf(section);
    const candidate = { handle, page, distance: canonicalDistance(page, canonical) };
    const rival = this.#kept.get(digest);
    if (rival !== undefined && !isBetter(candidate, rival)) return { kept: false };
    this.#kept.set(digest, candidate);
    return { kept: true, replaced: rival?.handle ?? null };
  }
}

function digestOf({ version, language, title, headings, text }: Section): string {
  const words = JSON.stringify([version, language, title, headings, text]);
  return createHash('sha256').update(words).digest('base64').slice(0, 22);
}

function isBetter(candidate: Kept<unknown>, rival: Kept<unknown>): boolean {
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
