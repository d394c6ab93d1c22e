import { LineSpool } from '../../files/index.ts';
import type { IndexedSection } from '../keyword/index.ts';
import { Numbers } from '../numbers.ts';
import type { Passage } from '../section.ts';
import type { SectionInPassages } from './cut-section.ts';

export interface SiteSection {
  readonly section: IndexedSection;
  readonly passages: readonly Passage[];
}

/** The sections of a site, in a temporary file: 20,000 pages have hundreds of megabytes of them. */
export class SiteSections {
  readonly #spool: LineSpool;
  readonly #dropped = new Set<number>();
  readonly #pages: string[] = [];
  /** Page of each section. */
  readonly #pageOf = new Numbers();
  #priors: ReadonlyMap<string, number> = new Map();

  constructor(file: string) {
    this.#spool = new LineSpool(file);
  }

  get count(): number {
    return this.nextNumber - this.#dropped.size;
  }

  get nextNumber(): number {
    return this.#pageOf.length;
  }

  beginPage(page: string): void {
    this.#pages.push(page);
  }

  /** @param json a section of the page that was begun last, with its passages */
  add(json: string): void {
    this.#spool.add(json);
    this.#pageOf.push(this.#pages.length - 1);
  }

  drop(number: number): void {
    this.#dropped.add(number);
  }

  /** @param priors importance by page, 0 to 1. Default: 0 */
  weigh(priors: ReadonlyMap<string, number>): void {
    this.#priors = priors;
  }

  *all(): Generator<SiteSection> {
    let number = -1;
    for (const line of this.#spool.lines()) {
      number += 1;
      if (this.#dropped.has(number)) continue;
      const page = this.#pages[this.#pageOf.at(number)] ?? '';
      const { section, passages } = JSON.parse(line) as SectionInPassages;
      yield { section: { ...section, page, prior: this.#priors.get(page) ?? 0 }, passages };
    }
  }

  [Symbol.dispose](): void {
    this.#spool[Symbol.dispose]();
  }
}
