import { LineSpool } from '../../files/index.ts';
import { cutPassages } from '../extract/index.ts';
import type { IndexedSection } from '../keyword/index.ts';
import type { Passage, Section } from '../section.ts';

export interface SiteSection {
  readonly section: IndexedSection;
  readonly passages: readonly Passage[];
}

interface Spooled {
  readonly page: string;
  readonly section: Section;
  readonly passages: readonly Passage[];
}

/** The sections of a site in a spool: 20,000 pages have hundreds of megabytes of them. In memory are numbers alone. */
export class SiteSections {
  readonly #spool: LineSpool;
  readonly #dropped = new Set<number>();
  #added = 0;
  #priors: ReadonlyMap<string, number> = new Map();

  constructor(file: string) {
    this.#spool = new LineSpool(file);
  }

  get count(): number {
    return this.#added - this.#dropped.size;
  }

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

  /** @param priors 0 to 1 by page; pages without have none */
  weigh(priors: ReadonlyMap<string, number>): void {
    this.#priors = priors;
  }

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

/** Scripts without spaces, about one character a token. */
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/gu;

/** Latin text has 4.4 characters a token with MiniLM's vocabulary, code and other alphabets fewer; 3.8 errs to the safe side. */
const CHARACTERS_A_TOKEN = 3.8;

/** About a text's tokens. The model's own count would cost as much as all of indexing; it reads 256, and passages have 220. */
export function estimateTokens(text: string): number {
  const dense = text.match(DENSE)?.length ?? 0;
  return Math.ceil(dense + (text.length - dense) / CHARACTERS_A_TOKEN);
}
