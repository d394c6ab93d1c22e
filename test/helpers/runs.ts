/**
 * How often a kill or a load is repeated: `inCi` times, and ten times as often in `npm run soak`, which runs every file that imports
 * this file or `fuzz.ts`.
 */
export function runs(inCi: number): number {
  return inCi * Number(process.env.DOCSHELF_SOAK ?? 1);
}

/** How many random cases of a property are tried: all in `.ci/run` and in `npm run soak`, a tenth of them in `npm test`. */
export function cases(inCi: number): number {
  return process.env.DOCSHELF_ALL_CASES === '1' ? runs(inCi) : Math.ceil(runs(inCi) / 10);
}
