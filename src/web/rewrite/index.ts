/**
 * Finds every reference of a file and makes it work elsewhere, in place: what is not replaced stays byte for byte.
 *
 * 1. `findReferences` reads a file once, by tokenizers that say where everything stands, and gives plain data to be kept.
 * 2. `rewriteFile` writes it, whenever the new addresses are known, without reading it again.
 */
export { findReferences, type ReferringFile, type SourceType, sourceTypeOf } from './find-references.ts';
export { filesOfGenerators, isGeneratorFile, UNNAMED_FILES } from './generators/index.ts';
export { refreshOf } from './markup/lists.ts';
export { type FoundKind, type FoundReference, type FoundReferences, referencesOf } from './reference.ts';
export { encodePath, relativeUrl } from './relative-url.ts';
export { type ResolvedSpecifier, resolveSpecifier } from './resolve-specifier.ts';
export { ownString } from './source-text.ts';
export { type Edit, type Replace, rewriteFile, spliceBytes } from './write.ts';
