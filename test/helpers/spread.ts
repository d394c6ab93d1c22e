/** Returns `count` items at even distances over the whole list. */
export function spread<T>(items: readonly T[], count: number): T[] {
  return items.filter(
    (_, at) => Math.floor((at * count) / items.length) !== Math.floor(((at - 1) * count) / items.length),
  );
}
