import { LineSpool } from '../../files/index.ts';
import { cutPassages } from '../extract/index.ts';
import type { IndexedSection } from '../keyword/index.ts';
import type { Passage, Section } from '../section.ts';

/** A section as it is indexed, with its passages. */
export interface SiteSection {
  readonly section: IndexedSection;
  readonly passages: readonly Passage[];
}

/** A line of the spool. */
interface Spooled {
  readonly page: string;
  readonly section: Section;
  readonly passages: readonly Passage[];
}

/**
 * The sections of a site in a spool: a site of 20,000 pages has hundreds of megabytes of them. What is in memory is a number
 * for each page, and for each section that was dropped again.
 */
export class SiteSections {
  readonly #spool: LineSpool;
  readonly #dropped = new Set<number>();
  #added = 0;
  #priors: ReadonlyMap<string, number> = new Map();

  /** @param file where nothing is yet; it has no name from then on */
  constructor(file: string) {
    this.#spool = new LineSpool(file);
  }

  /** How many there are. */
  get count(): number {
    return this.#added - this.#dropped.size;
  }

  /** By which the section that is added next may be dropped. */
  get nextNumber(): number {
    return this.#added;
  }

  add(page: string, section: Section): void {
    const passages = cutPassages(section.text, estimateTokens);
    this.#spool.add(JSON.stringify({ page, section, passages } satisfies Spooled));
    this.#added += 1;
  }

  drop(number: number): void {
    this.#dropped.add(number);
  }

  /** Says how much each page matters, 0 to 1. Those that are not named do not. */
  weigh(priors: ReadonlyMap<string, number>): void {
    this.#priors = priors;
  }

  /** In the order in which they were added. Each call begins anew. */
  *all(): Generator<SiteSection> {
    let number = 0;
    for (const line of this.#spool.lines()) {
      if (!this.#dropped.has(number)) {
        const { page, section, passages } = JSON.parse(line) as Spooled;
        yield { section: { ...section, page, prior: this.#priors.get(page) ?? 0 }, passages };
      }
      number += 1;
    }
  }

  [Symbol.dispose](): void {
    this.#spool[Symbol.dispose]();
  }
}

/** Scripts without spaces, in which a model's token is about one character. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;

/** Latin text has 4.4 characters a token with MiniLM's vocabulary, code and other alphabets fewer; 3.8 errs to the safe side. */
const CHARACTERS_A_TOKEN = 3.8;

/**
 * About how many tokens a text has, for cutting it into passages. The model's own count would cost as much as all the rest
 * of indexing, and a passage that is a tenth too long loses nothing: the model reads 256 tokens, passages have 220.
 */
export function estimateTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0;
  return Math.ceil(dense + (text.length - dense) / CHARACTERS_A_TOKEN);
}
