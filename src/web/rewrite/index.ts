export { findReferences, type ReferringFile } from './find-references.ts';
export { filesOfGenerators, isGeneratorFile, UNNAMED_FILES } from './generators/index.ts';
export { refreshOf } from './markup/elements.ts';
export type { FoundKind, FoundReference, FoundReferences } from './reference.ts';
export { type ResolvedSpecifier, resolveSpecifier } from './resolve-specifier.ts';
export { detachString, type SourceType, sourceTypeOf, unitsOf, utf8Bytes } from './source-text.ts';
export { type Edit, encodePath, type Replace, relativeUrl, rewriteFile, spliceBytes } from './write.ts';
