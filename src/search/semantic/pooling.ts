/** Of sentence-transformers' pooling module. */
export const POOLINGS = ['mean', 'cls', 'max', 'mean_sqrt_len', 'lasttoken'] as const;
export type Pooling = (typeof POOLINGS)[number];

/** Not yet of length 1. @param hidden token vectors, padding at the end @param tokens the text's own, at least 1 */
export function pool(hidden: Float32Array, tokens: number, dims: number, pooling: Pooling): Float32Array {
  if (pooling === 'cls') return hidden.slice(0, dims);
  if (pooling === 'lasttoken') return hidden.slice((tokens - 1) * dims, tokens * dims);
  const pooled = new Float32Array(dims).fill(pooling === 'max' ? Number.NEGATIVE_INFINITY : 0);
  for (let token = 0; token < tokens; token += 1) {
    for (let dim = 0; dim < dims; dim += 1) {
      const value = hidden[token * dims + dim] as number;
      const before = pooled[dim] as number;
      pooled[dim] = pooling === 'max' ? Math.max(before, value) : before + value;
    }
  }
  if (pooling === 'max') return pooled;
  const divisor = pooling === 'mean' ? tokens : Math.sqrt(tokens);
  return pooled.map((value) => value / divisor);
}

/** To length 1. A vector of zeros stays what it is. */
export function normalise(vector: Float32Array): Float32Array {
  let squares = 0;
  for (const value of vector) squares += value * value;
  return squares === 0 ? vector : vector.map((value) => value / Math.sqrt(squares));
}
