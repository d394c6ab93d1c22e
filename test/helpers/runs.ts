/**
 * Number of repetitions of a kill or load: `inCi`, and ten times as many in `npm run soak`, which runs each file that imports
 * this file or `fuzz.ts`.
 */
export function runs(inCi: number): number {
  return inCi * Number(process.env.DOCSHELF_SOAK ?? 1);
}

/** Number of random cases of a property: a tenth of `inSoak`, and all in `npm run soak`. */
export function cases(inSoak: number): number {
  return Math.ceil(runs(inSoak) / 10);
}
