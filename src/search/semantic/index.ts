/**
 * passage -> text -> vector (`model`) -> int8 (`quantise`) -> cache (`vector-cache`) -> file (`vector-file`): `embed-release`
 * query -> vector (`model`) -> nearest sections (`vector-index`)
 */
export type { EmbedProgress } from '../ports.ts';
export { COMMON_SCALE, type CosineScale, measureScale } from './cosine-scale.ts';
export { type EmbedRequest, embedRelease, type PassageText, passageText } from './embed-release.ts';
export { EmbeddingModel } from './model.ts';
export { sweepVectors } from './sweep-vectors.ts';
export { readVectors, type Vectors } from './vector-file.ts';
export { type VectorHit, VectorIndex } from './vector-index.ts';
