type Numbers = Uint8Array | Uint16Array | Uint32Array | Float64Array;

/** The array, or a copy of twice its length where `count` numbers would not fit. */
export function roomFor<Kind extends Numbers>(numbers: Kind, count: number): Kind {
  if (count <= numbers.length) return numbers;
  const more = new (numbers.constructor as new (length: number) => Kind)(Math.max(count, numbers.length * 2));
  more.set(numbers);
  return more;
}
