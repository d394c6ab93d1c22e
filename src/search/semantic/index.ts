/**
 * passage -> text -> vector (`model`) -> int8 (`quantise`) -> cache (`vector-cache`) -> table (`vector-table`): `embed-release`
 * query -> vector (`model`) -> nearest sections (`vector-index`)
 */
export type { EmbedProgress } from '../ports.ts';
export { COMMON_SCALE } from './cosine-scale.ts';
export { embedRelease, passageText } from './embed-release.ts';
export { EmbeddingModel } from './model.ts';
export { type VectorHit, VectorIndex } from './vector-index.ts';
export { VectorTable } from './vector-table.ts';
