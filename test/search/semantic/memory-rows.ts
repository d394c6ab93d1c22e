import type { SectionVectors } from '../../../src/search/semantic/vector-index.ts';

/** In-memory table of vectors. A row of zeros has none. @param sections default: one row per section */
export function memoryRows(
  values: Int8Array,
  dims: number,
  sections: ArrayLike<number> = Array.from({ length: values.length / dims }, (_, at) => at),
): SectionVectors {
  const get = (row: number): Int8Array | null => {
    const vector = values.subarray(row * dims, (row + 1) * dims);
    return vector.some((value) => value !== 0) ? vector : null;
  };
  const count = values.length / dims;
  return {
    ...{ dims, count, get },
    sections: Uint32Array.from(sections),
    *rows(wanted) {
      for (let row = 0; row < count; row += 1) {
        const vector = wanted(row) ? get(row) : null;
        if (vector !== null) yield [row, vector];
      }
    },
  };
}
