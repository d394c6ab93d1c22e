/** The unit of search: one heading and the text under it (contract section 1). */
export interface Section {
  /**
   * The page's path as readers see it, with the heading's `#fragment`: `/guides/start#install`. Not unique: a heading
   * without an anchor has the fragment of the nearest one above it, or none.
   */
  readonly path: string;
  /** The page's title, without the site's name. */
  readonly title: string;
  /** Of a page's first section: what its `<title>` says without the site's name, where that is another title. */
  readonly documentTitle?: string;
  /** Headings from the page's first down to the section's own; empty for what stands before any heading. */
  readonly headings: readonly string[];
  /** The text under the heading, code included, blocks parted by a blank line. Never empty: else it says what is below. */
  readonly text: string;
  /** BCP 47 tag of the page's `html lang`, as it is written there; null where the page says none. */
  readonly language: string | null;
  /** The documentation version that the page says of itself; null where it says none. */
  readonly version: string | null;
  readonly tags: readonly string[];
}

/** The part of a section that is embedded and shown: about 220 tokens, cut at paragraph borders. */
export interface Passage {
  /** Where it begins and ends in the section's text, in UTF-16 code units. */
  readonly start: number;
  readonly end: number;
}
