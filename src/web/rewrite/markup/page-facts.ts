/** What is known of a page beside its references (`FoundReferences`). */
export class PageFacts {
  base: string | null = null;
  /** Whether a `<base href>` was there, also one that can be no base. */
  hasBase = false;
  readonly importMaps: string[] = [];
  readonly robots: string[] = [];
}
