/** Spread evenly, the first among them, in their order. */
export function sampleOf<Item>(items: readonly Item[], max: number): readonly Item[] {
  if (items.length <= max) return items;
  return Array.from({ length: max }, (_, at) => items[Math.floor((at * items.length) / max)] as Item);
}
