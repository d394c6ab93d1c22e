/**
 * Maps items in their order, with up to `max` of them at work at once: what is slow (a disk, a thread) is asked before
 * its answer is needed. Begins no item before the reader asks, and leaves none at work when the reader stops.
 *
 * @throws what `map` throws, at that item's turn
 */
export async function* mapAhead<Item, Result>(
  items: Iterable<Item> | AsyncIterable<Item>,
  max: number,
  map: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const ahead: Promise<Result>[] = [];
  try {
    for await (const item of items) {
      const result = map(item);
      // It is thrown at its turn; until then nobody waits for it.
      result.catch(() => undefined);
      ahead.push(result);
      if (ahead.length >= max) yield await (ahead.shift() as Promise<Result>);
    }
    for (let next = ahead.shift(); next !== undefined; next = ahead.shift()) yield await next;
  } finally {
    await Promise.allSettled(ahead);
  }
}
