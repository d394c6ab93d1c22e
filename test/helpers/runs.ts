/** How often a property is tried: so often in CI, and `DOCSHELF_SOAK` times as often in `npm run soak`, which takes every file that names this or `fuzz.ts`. */
export function runs(inCi: number): number {
  return inCi * Number(process.env.DOCSHELF_SOAK ?? 1);
}
