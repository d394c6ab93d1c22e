/**
 * Number of repetitions of a kill or load: `inCi`, and ten times as many in `npm run soak`, which runs each file that imports
 * this file or `fuzz.ts`.
 */
export function runs(inCi: number): number {
  return inCi * Number(process.env.DOCSHELF_SOAK ?? 1);
}

/** Number of random cases of a property: all in `.ci/run` and `npm run soak`, a tenth in `npm test`. */
export function cases(inCi: number): number {
  return process.env.DOCSHELF_ALL_CASES === '1' ? runs(inCi) : Math.ceil(runs(inCi) / 10);
}
