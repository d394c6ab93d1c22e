import { bitCount } from '../bits.ts';
import { signBits } from './quantise.ts';

export class VectorKernel {
  readonly #values: Int8Array;
  readonly #dims: number;
  /** A row of `dims / 32` words for each vector. */
  readonly #bits: Int32Array;
  readonly #distances: Uint16Array;

  constructor(values: Int8Array, dims: number) {
    this.#values = values;
    this.#dims = dims;
    const count = values.length / dims;
    this.#distances = new Uint16Array(count);
    this.#bits = new Int32Array((count * dims) / 32);
    for (let row = 0; row < count; row += 1)
      this.#bits.set(signBits(values.subarray(row * dims, (row + 1) * dims)), (row * dims) / 32);
  }

  /** Beside the values. */
  get bytes(): number {
    return this.#bits.byteLength + this.#distances.byteLength;
  }

  /** By vector. Written anew by the next call. */
  distances(query: Float32Array): Uint16Array {
    const [bits, distances] = [this.#bits, this.#distances];
    const queryBits = signBits(query);
    const words = queryBits.length;
    for (let row = 0, at = 0; row < distances.length; row += 1) {
      let sum = 0;
      for (let word = 0; word < words; word += 1, at += 1)
        sum += bitCount((bits[at] as number) ^ (queryBits[word] as number));
      distances[row] = sum;
    }
    return distances;
  }

  products(query: Float32Array, vectors: readonly number[]): Float64Array {
    const [values, dims] = [this.#values, this.#dims];
    const numbers = Float64Array.from(query);
    const products = new Float64Array(vectors.length);
    for (let row = 0; row < vectors.length; row += 1) {
      const from = (vectors[row] as number) * dims;
      // Four sums, which the processor adds to at once.
      let [one, two, three, four] = [0, 0, 0, 0];
      for (let dim = 0; dim < dims; dim += 4) {
        one += (numbers[dim] as number) * (values[from + dim] as number);
        two += (numbers[dim + 1] as number) * (values[from + dim + 1] as number);
        three += (numbers[dim + 2] as number) * (values[from + dim + 2] as number);
        four += (numbers[dim + 3] as number) * (values[from + dim + 3] as number);
      }
      products[row] = one + two + three + four;
    }
    return products;
  }
}
