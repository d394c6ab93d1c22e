/** The unit of search: one heading and the text under it (contract section 1). */
export interface Section {
  /** As readers see it, with the nearest heading's `#fragment`: `/guides/start#install`. Not unique. */
  readonly path: string;
  /** Without the site's name. */
  readonly title: string;
  /** Of a page's first section: its `<title>` without the site's name, where that is another title. */
  readonly documentTitle?: string;
  /** From the page's first down to the section's own; empty for what stands before any heading. */
  readonly headings: readonly string[];
  /** Code included, blocks parted by a blank line. Never empty: else it says what is below. */
  readonly text: string;
  /** BCP 47; null where the page says none. */
  readonly language: string | null;
  readonly version: string | null;
  readonly tags: readonly string[];
}

/** The part of a section that is embedded and shown: about 220 tokens, cut at paragraph borders. */
export interface Passage {
  /** In UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}
