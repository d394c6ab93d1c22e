/** `xml` is SVG and XHTML, `feed` all other XML, `script` JavaScript of both kinds, `manifest` a web app manifest. */
export type SourceType = 'html' | 'xml' | 'feed' | 'css' | 'script' | 'manifest';

const SOURCE_TYPES: readonly (readonly [RegExp, SourceType])[] = [
  [/^text\/html$/, 'html'],
  [/^(?:application\/xhtml|image\/svg)\+xml$/, 'xml'],
  [/^(?:application|text)\/xml$|^application\/(?:rss|atom)\+xml$/, 'feed'],
  [/^text\/css$/, 'css'],
  [/^(?:application|text)\/(?:java|ecma)script$|^application\/x-javascript$/, 'script'],
  [/^application\/manifest\+json$/, 'manifest'],
];

/** Null for media types without references. A manifest that is sent as JSON is known by the page that names it. */
export function sourceTypeOf(mediaType: string): SourceType | null {
  const end = mediaType.indexOf(';');
  const type = (end === -1 ? mediaType : mediaType.slice(0, end)).trim().toLowerCase();
  return SOURCE_TYPES.find(([pattern]) => pattern.test(type))?.[1] ?? null;
}
