/**
 * - `link`: a place that a reader goes to. `frame`: a document shown inside the page.
 * - `script`, `style`, `manifest`, `asset`: loaded by the page. `lazy`: loaded by scripts from the common `data-` attributes.
 * - `module`: a specifier, perhaps bare (`resolveSpecifier`). `worker`: a script whose address is seen from the page, also
 *   in a script file: write it from the root of the site.
 * - `prefix`: a folder of an import map. `canonical`: the page's own address. `base`: the start of all others.
 * - `hint`: hosts to connect to, and pings. An empty text takes it out of work.
 * - `integrity`: a digest, `url` being what it is the digest of.
 * - `mention`: an address in a framework's data, to be fetched and never written.
 * - `scope`: the start of addresses, of a service worker or a manifest, which names no file. `pattern`: a pattern of addresses (URL
 *   pattern standard), in a string of JSON or a script.
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
  'scope',
  'pattern',
] as const;

export type FoundKind = (typeof REFERENCE_KINDS)[number];

export interface FoundReference {
  readonly kind: FoundKind;
  /** As the browser sees it: entities and escapes decoded, white space around it removed. Not resolved. */
  readonly url: string;
  /** The part that is replaced, in bytes of the file. */
  readonly start: number;
  readonly end: number;
  /** How a replacement is written there (`write.ts`). */
  readonly writing: number;
}

/** All references of one file as plain data, small enough to be kept for each page; read with `referencesOf`. */
export interface FoundReferences {
  readonly charset: string;
  readonly urls: readonly string[];
  /** Start, end, index into `urls`, index into `REFERENCE_KINDS`, writing: of each reference. */
  readonly spans: readonly number[];
  readonly base: string | null;
  /** JSON. */
  readonly importMaps: readonly string[];
  /** `noindex, nofollow` */
  readonly robots: readonly string[];
  /** Paths from the root of files that the generator's scripts may ask for beside the page. */
  readonly payloads: readonly string[];
}

const SPAN_NUMBERS = 5;

export function* referencesOf(found: FoundReferences): Generator<FoundReference> {
  const { spans, urls } = found;
  for (let at = 0; at < spans.length; at += SPAN_NUMBERS) {
    const url = urls[spans[at + 2] ?? 0] ?? '';
    const kind = REFERENCE_KINDS[spans[at + 3] ?? 0] ?? 'mention';
    yield { kind, url, start: spans[at] ?? 0, end: spans[at + 1] ?? 0, writing: spans[at + 4] ?? 0 };
  }
}
