/** Place of the first in a rising row that is not before what is looked for: 0 to `length`. By halves. */
export function firstFrom(length: number, isBefore: (at: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}
