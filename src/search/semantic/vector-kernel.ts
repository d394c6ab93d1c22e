import { kernelCode } from './kernel-code.ts';
import { signBits } from './quantise.ts';

/** Vectors whose products are worked out in one call. */
const BATCH = 256;
const PAGE_BYTES = 65_536;
/** What the loop over sign bits goes by. */
const WORD_BYTES = 8;

interface Kernel {
  distances(query: number, rows: number, rowBytes: number, count: number, out: number): void;
  products(query: number, rows: number, rowBytes: number, count: number, out: number): void;
}

/**
 * The arithmetic over a release's vectors. The sign bits lie in the kernel's memory, which holds no more than 4 GiB; the int8
 * values, eight times as many, stay where they are and are copied there as they are needed.
 */
export class VectorKernel {
  readonly #kernel: Kernel;
  /** The int8 values, four in a word: a vector is copied word by word, without making an array of it. */
  readonly #words: Int32Array;
  readonly #dims: number;
  readonly #count: number;
  readonly #rowBytes: number;
  readonly #at: ReturnType<typeof layoutOf>;
  readonly #query: Float64Array;
  readonly #queryBits: Uint32Array;
  readonly #batch: Int32Array;
  readonly #products: Float64Array;
  readonly #distances: Uint16Array;

  /**
   * @param values one vector after the other.
   * @param dims a multiple of 32.
   */
  constructor(values: Int8Array, dims: number) {
    this.#words = wordsOf(values);
    this.#dims = dims;
    this.#count = values.length / dims;
    this.#rowBytes = Math.ceil(dims / 8 / WORD_BYTES) * WORD_BYTES;
    this.#at = layoutOf(this.#count, dims, this.#rowBytes);
    const memory = new WebAssembly.Memory({ initial: Math.ceil(this.#at.end / PAGE_BYTES) });
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(kernelCode()), { caller: { memory } });
    this.#kernel = exports as unknown as Kernel;
    const { buffer } = memory;
    this.#query = new Float64Array(buffer, this.#at.query, dims);
    this.#queryBits = new Uint32Array(buffer, this.#at.queryBits, this.#rowBytes / 4);
    this.#products = new Float64Array(buffer, this.#at.products, BATCH);
    this.#batch = new Int32Array(buffer, this.#at.batch, (BATCH * dims) / 4);
    this.#distances = new Uint16Array(buffer, this.#at.distances, this.#count);
    const bits = new Uint32Array(buffer, this.#at.bits, (this.#count * this.#rowBytes) / 4);
    const stride = this.#rowBytes / 4;
    for (let row = 0; row < this.#count; row += 1)
      bits.set(signBits(values.subarray(row * dims, (row + 1) * dims)), row * stride);
  }

  /** How many sign bits each vector does not share with the query. Written anew by the next call. */
  distances(query: Float32Array): Uint16Array {
    const { queryBits, bits, distances } = this.#at;
    this.#queryBits.set(signBits(query));
    if (this.#count > 0) this.#kernel.distances(queryBits, bits, this.#rowBytes, this.#count, distances);
    return this.#distances;
  }

  /** The dot products of the query and the int8 values of these vectors, in their order. */
  products(query: Float32Array, vectors: readonly number[]): Float64Array {
    const dims = this.#dims;
    const words = dims / 4;
    const products = new Float64Array(vectors.length);
    this.#query.set(query);
    for (let from = 0; from < vectors.length; from += BATCH) {
      const count = Math.min(BATCH, vectors.length - from);
      for (let row = 0; row < count; row += 1) {
        const start = (vectors[from + row] as number) * words;
        for (let word = 0; word < words; word += 1)
          this.#batch[row * words + word] = this.#words[start + word] as number;
      }
      this.#kernel.products(this.#at.query, this.#at.batch, dims, count, this.#at.products);
      products.set(this.#products.subarray(0, count), from);
    }
    return products;
  }
}

/** The same memory where its place allows that, as in a file of vectors; else a copy. */
function wordsOf(values: Int8Array): Int32Array {
  const aligned = values.byteOffset % 4 === 0 ? values : values.slice();
  return new Int32Array(aligned.buffer, aligned.byteOffset, aligned.length / 4);
}

/** Where everything lies in the kernel's memory, each at a multiple of 8 bytes: that suits all of its numbers. */
function layoutOf(count: number, dims: number, rowBytes: number) {
  let end = 0;
  const place = (bytes: number): number => {
    const at = end;
    end += Math.ceil(bytes / 8) * 8;
    return at;
  };
  return {
    query: place(dims * 8),
    queryBits: place(rowBytes),
    products: place(BATCH * 8),
    batch: place(BATCH * dims),
    distances: place(count * 2),
    bits: place(count * rowBytes),
    end,
  };
}
