/** The serving side names files behind this door: the HTML parser that comes with it costs a start 20 ms. */
export { CHARSET_HEAD_BYTES, charsetOfType, htmlCharset, markedCharset } from './charset.ts';
export { isCompressible, isCompressibleType } from './compressible.ts';
export { ImmutableNames } from './immutable-names.ts';
export { isAssetPath, mediaTypeOf, mediaTypeOfFile, namesItsCharset } from './media-type.ts';
export { pageText } from './page-text.ts';
export { decodeOrKeep, percentDecode } from './percent-decode.ts';
export {
  findLinks,
  outlinePage,
  type PageOutline,
  type PageReferences,
  type Reference,
  type ReferenceKind,
} from './references.ts';
export { isHidden, type Resolution, resolvePath } from './resolve.ts';
export { styleReferences } from './style-references.ts';
export { TrailingSlashVotes } from './trailing-slash.ts';
