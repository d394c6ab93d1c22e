/**
 * What a reference is for, which says what is expected behind it and what its address is resolved against.
 *
 * - `link`: a place that a reader goes to. `frame`: a document that the page shows inside itself.
 * - `script`, `style`, `manifest`, `asset`: what the page loads. `lazy`: what its scripts will load by the common `data-` attributes.
 * - `module`: a module specifier, perhaps bare (`resolveSpecifier`). `worker`: a script that is named by its address seen
 *   from the page, also where a script file names it: write it from the root of the site.
 * - `prefix`: a folder of an import map. `canonical`: the page's own address. `base`: what all others start from.
 * - `hint`: hosts to connect to, and pings. An empty text takes it out of work.
 * - `integrity`: a digest, `url` being what it is the digest of.
 * - `mention`: an address that a framework's data are known to hold; it is there to be fetched, and cannot be written.
 */
export const REFERENCE_KINDS = [
  'link',
  'frame',
  'script',
  'style',
  'manifest',
  'asset',
  'lazy',
  'module',
  'worker',
  'prefix',
  'canonical',
  'base',
  'hint',
  'integrity',
  'mention',
] as const;

export type FoundKind = (typeof REFERENCE_KINDS)[number];

export interface FoundReference {
  readonly kind: FoundKind;
  /** As the browser sees it: entities and escapes decoded, white space around it removed. Not resolved. */
  readonly url: string;
  /** What is replaced, in bytes of the file. */
  readonly start: number;
  readonly end: number;
  /** How a replacement is written there (`write.ts`). */
  readonly writing: number;
}

/**
 * All references of one file. Plain data, small enough to be kept for each page of a large site: the references are five
 * numbers each, to be read with `referencesOf`.
 */
export interface FoundReferences {
  readonly charset: string;
  /** Distinct. */
  readonly urls: readonly string[];
  /** Start, end, index into `urls`, index into `REFERENCE_KINDS`, writing: of each reference. */
  readonly spans: readonly number[];
  /** The first `<base href>`, which every relative reference starts from, or null. */
  readonly base: string | null;
  /** What a fragment may lead to: every `id`, and the `name` of an `a`. */
  readonly anchors: readonly string[];
  /** The text of the first `<title>`, or null. */
  readonly title: string | null;
  /** Characters of text outside scripts, styles and the title, counted up to `TEXT_CHARS_COUNTED`: about how much there is to read without scripts. */
  readonly textChars: number;
  /** The page's import maps, as JSON, in their order. */
  readonly importMaps: readonly string[];
}

export const SPAN_NUMBERS = 5;

export function* referencesOf(found: FoundReferences): Generator<FoundReference> {
  const { spans, urls } = found;
  for (let at = 0; at < spans.length; at += SPAN_NUMBERS) {
    const [start = 0, end = 0, url = 0, kind = 0, writing = 0] = spans.slice(at, at + SPAN_NUMBERS);
    yield { kind: REFERENCE_KINDS[kind] ?? 'mention', url: urls[url] ?? '', start, end, writing };
  }
}
