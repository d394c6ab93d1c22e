import { bitCount } from '../bits.ts';
import { inverseLength, signBits } from './quantise.ts';

/** A table of them, by row. Vectors may join; none changes. */
export interface VectorRows {
  readonly dims: number;
  readonly count: number;
  rows(wanted: (row: number) => boolean): Iterable<readonly [row: number, vector: Int8Array]>;
  /** Null where the row has none. Valid until the next call. */
  get(row: number): Int8Array | null;
}

/** Farther than any. */
export const OUT = 0xffff;

/** In memory are the sign bits alone, an eighth of the values, which are read for those that are near. */
export class VectorKernel {
  readonly #rows: VectorRows;
  /** A row of `dims / 32` words for each vector. */
  readonly #bits: Int32Array;
  readonly #distances: Uint16Array;
  /** Of length 1 by their int8 values; 0 for a vector of zeros. */
  readonly #inverse: Float32Array;
  readonly #isThere: Uint8Array;

  constructor(rows: VectorRows) {
    this.#rows = rows;
    this.#bits = new Int32Array((rows.count * rows.dims) / 32);
    this.#distances = new Uint16Array(rows.count);
    this.#inverse = new Float32Array(rows.count);
    this.#isThere = new Uint8Array(rows.count);
    this.refresh();
  }

  /** Takes in the vectors that have joined. */
  refresh(): void {
    const isThere = this.#isThere;
    for (const [row, vector] of this.#rows.rows((each) => isThere[each] === 0)) {
      this.#bits.set(signBits(vector), (row * vector.length) / 32);
      this.#inverse[row] = inverseLength(vector);
      isThere[row] = 1;
    }
  }

  get bytes(): number {
    return [this.#bits, this.#distances, this.#inverse, this.#isThere].reduce((sum, each) => sum + each.byteLength, 0);
  }

  /** By row; `OUT` without a vector. Written anew by the next call. */
  distances(query: Float32Array): Uint16Array {
    const [bits, distances, isThere] = [this.#bits, this.#distances, this.#isThere];
    const queryBits = signBits(query);
    const words = queryBits.length;
    for (let row = 0, at = 0; row < distances.length; row += 1) {
      if (isThere[row] === 0) {
        distances[row] = OUT;
        at += words;
        continue;
      }
      let sum = 0;
      for (let word = 0; word < words; word += 1, at += 1)
        sum += bitCount((bits[at] as number) ^ (queryBits[word] as number));
      distances[row] = sum;
    }
    return distances;
  }

  /** By place in `rows`; without a vector less than any. */
  cosines(query: Float32Array, rows: readonly number[]): Float64Array {
    const numbers = Float64Array.from(query);
    const cosines = new Float64Array(rows.length);
    for (const [at, row] of rows.entries()) {
      const values = this.#isThere[row] === 1 ? this.#rows.get(row) : null;
      cosines[at] =
        values === null ? Number.NEGATIVE_INFINITY : product(numbers, values) * (this.#inverse[row] as number);
    }
    return cosines;
  }
}

/** Four sums, which the processor adds to at once. */
function product(numbers: Float64Array, values: Int8Array): number {
  let [one, two, three, four] = [0, 0, 0, 0];
  for (let dim = 0; dim < values.length; dim += 4) {
    one += (numbers[dim] as number) * (values[dim] as number);
    two += (numbers[dim + 1] as number) * (values[dim + 1] as number);
    three += (numbers[dim + 2] as number) * (values[dim + 2] as number);
    four += (numbers[dim + 3] as number) * (values[dim + 3] as number);
  }
  return one + two + three + four;
}
