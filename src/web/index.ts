/** Code that serves requests imports files directly, because the HTML parser in this index delays the start by 20 ms. */

export { decodeOrKeep, percentDecode } from './escape.ts';
export { ImmutableNames } from './immutable-names.ts';
export {
  CHARSET_HEAD_BYTES,
  charsetOfType,
  htmlCharset,
  isAssetPath,
  isCompressible,
  isCompressibleType,
  markedCharset,
  mediaTypeOf,
  mediaTypeOfFile,
  namesItsCharset,
  pageText,
  shownTypeOf,
} from './media-type.ts';
export {
  findLinks,
  outlinePage,
  type PageOutline,
  type PageReferences,
  type Reference,
  type ReferenceKind,
} from './references.ts';
export { isHidden, type Resolution, resolvePath } from './resolve.ts';
export { styleReferences } from './rewrite/find-references.ts';
export { TrailingSlashVotes } from './trailing-slash.ts';
