import { ownString } from '../source-text.ts';

/** Text is not counted further. */
export const TEXT_CHARS_COUNTED = 4_096;

/** What is known of a page beside its references (`FoundReferences`). */
export class PageFacts {
  base: string | null = null;
  /** Whether a `<base href>` was there, also one that can be no base. */
  hasBase = false;
  title: string | null = null;
  textChars = 0;
  readonly anchors: string[] = [];
  readonly importMaps: string[] = [];

  addAnchor(anchor: string): void {
    this.anchors.push(ownString(anchor));
  }

  /** Counts what of a part of a text can be seen. */
  countText(text: string, start: number, end: number): void {
    for (let at = start; at < end && this.textChars < TEXT_CHARS_COUNTED; at++) {
      if (text.charCodeAt(at) > 0x20) this.textChars++;
    }
  }
}
