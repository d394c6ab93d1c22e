import { LineSpool } from '../../files/index.ts';
import { FINGERPRINT_BYTES, wordAt } from '../fingerprints.ts';
import type { IndexedSection } from '../keyword/index.ts';
import { Numbers } from '../numbers.ts';
import type { Passage, Section } from '../section.ts';
import { cutSection, type SectionInPassages } from './cut-section.ts';

export interface SiteSection {
  readonly section: IndexedSection;
  readonly passages: readonly Passage[];
}

/** A section that is only read where the index of the version before does not have it. */
export interface SectionEntry {
  readonly page: string;
  readonly prior: number;
  /** Of `digestOf`. */
  readonly digest: Uint8Array;
  /** Where they are known without reading it. */
  readonly passages?: readonly Passage[];
  readonly read: () => SectionInPassages;
}

interface Page {
  readonly page: string;
  /** Of the file of one that was not read. */
  readonly path: string | null;
}

/** The sections of a site in a spool: 20,000 pages have hundreds of megabytes of them. In memory are numbers, and what pages are called. */
export class SiteSections {
  readonly #spool: LineSpool;
  readonly #readPage: (path: string) => readonly Section[];
  readonly #dropped = new Set<number>();
  readonly #pages: Page[] = [];
  /** Of each section: its page, its place there, and its digest. */
  readonly #facts = new Numbers();
  #priors: ReadonlyMap<string, number> = new Map();

  /** @param readPage all sections of a page that was not read */
  constructor(file: string, readPage: (path: string) => readonly Section[]) {
    this.#readPage = readPage;
    this.#spool = new LineSpool(file);
  }

  get count(): number {
    return this.nextNumber - this.#dropped.size;
  }

  get nextNumber(): number {
    return this.#facts.length / FACTS;
  }

  /** @param path of one whose sections are not added in words */
  beginPage(page: string, path: string | null): void {
    this.#pages.push({ page, path });
  }

  /** @param place among the sections of the page that was begun last @param prints have its digest at `at` @param json of the section, cut */
  add(place: number, prints: Uint8Array, at: number, json: string | null): void {
    if (json !== null) this.#spool.add(json);
    this.#facts.push(this.#pages.length - 1);
    this.#facts.push(place);
    for (let word = at; word < at + FINGERPRINT_BYTES; word += 4) this.#facts.push(wordAt(prints, word));
  }

  drop(number: number): void {
    this.#dropped.add(number);
  }

  /** @param priors 0 to 1 by page; pages without have none */
  weigh(priors: ReadonlyMap<string, number>): void {
    this.#priors = priors;
  }

  *all(): Generator<SiteSection> {
    for (const { page, prior, read } of this.entries()) {
      const { section, passages } = read();
      yield { section: { ...section, page, prior }, passages };
    }
  }

  *entries(): Generator<SectionEntry> {
    const lines = this.#spool.lines();
    let page: Page | undefined;
    let sections: readonly Section[] = [];
    for (let number = 0; number < this.nextNumber; number += 1) {
      const next = this.#pages[this.#facts.at(FACTS * number)];
      if (next === undefined) continue;
      if (next !== page) sections = [];
      page = next;
      const { path } = next;
      const line = path === null ? (lines.next().value ?? '') : '';
      if (this.#dropped.has(number)) continue;
      const place = this.#facts.at(FACTS * number + 1);
      yield {
        page: page.page,
        prior: this.#priors.get(page.page) ?? 0,
        digest: this.#digestOf(number),
        read: () => {
          if (path === null) return JSON.parse(line) as SectionInPassages;
          if (sections.length === 0) sections = this.#readPage(path);
          return cutSection(sections[place] as Section);
        },
      };
    }
  }

  [Symbol.dispose](): void {
    this.#spool[Symbol.dispose]();
  }

  #digestOf(number: number): Uint8Array {
    return new Uint8Array(this.#facts.view.buffer, 4 * (FACTS * number + 2), FINGERPRINT_BYTES);
  }
}

const FACTS = 2 + FINGERPRINT_BYTES / 4;
