const AT_FIRST = 1024;

/** A list of 32-bit numbers that grows: four to eight bytes each. */
export class Numbers {
  #numbers = new Uint32Array(AT_FIRST);
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(number: number): void {
    if (this.#length === this.#numbers.length)
      this.#numbers = new Uint32Array(this.#numbers.buffer.transfer(2 * this.#numbers.byteLength));
    this.#numbers[this.#length] = number;
    this.#length += 1;
  }

  /** @param index of one that was pushed */
  set(index: number, number: number): void {
    this.#numbers[index] = number;
  }

  at(index: number): number {
    return this.#numbers[index] ?? 0;
  }

  /** Valid until the next `push`. */
  get view(): Uint32Array<ArrayBuffer> {
    return this.#numbers.subarray(0, this.#length);
  }
}
