/** `findReferences` reads a file once and gives plain data; `rewriteFile` replaces what was found, and no other byte. */
export { findReferences, type ReferringFile } from './find-references.ts';
export { filesOfGenerators, isGeneratorFile, UNNAMED_FILES } from './generators/index.ts';
export { refreshOf } from './markup/lists.ts';
export { type FoundKind, type FoundReference, type FoundReferences, referencesOf } from './reference.ts';
export { encodePath, relativeUrl } from './relative-url.ts';
export { type ResolvedSpecifier, resolveSpecifier } from './resolve-specifier.ts';
export { ownString } from './source-text.ts';
export { type SourceType, sourceTypeOf } from './source-type.ts';
export { type Edit, type Replace, rewriteFile, spliceBytes } from './write.ts';
