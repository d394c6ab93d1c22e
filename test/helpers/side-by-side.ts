/** Calls `act` for each item, with at most `max` calls at once. The first failure ends it. */
export async function sideBySide<T>(items: Iterable<T>, max: number, act: (item: T) => Promise<void>): Promise<void> {
  const queue = items[Symbol.iterator]();
  const lane = async (): Promise<void> => {
    for (let next = queue.next(); next.done !== true; next = queue.next()) await act(next.value);
  };
  await Promise.all(Array.from({ length: max }, lane));
}
