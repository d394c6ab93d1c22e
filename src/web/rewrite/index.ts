export { findReferences, type ReferringFile } from './find-references.ts';
export { filesOfGenerators, isGeneratorFile, UNNAMED_FILES } from './generators/index.ts';
export { refreshOf } from './markup/elements.ts';
export {
  type FoundKind,
  type FoundReference,
  type FoundReferences,
  referencesOf,
} from './reference.ts';
export { type ResolvedSpecifier, resolveSpecifier } from './resolve-specifier.ts';
export { type SourceType, sourceTypeOf, unitsOf, utf8Bytes } from './source-text.ts';
export { type Edit, encodePath, type Replace, relativeUrl, rewriteFile, spliceBytes } from './write.ts';
