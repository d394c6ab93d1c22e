import type { SearchAnswer } from '../search/index.ts';

/** The array of results that clients get (contract, section 5), in UTF-8. */
export function searchBody(answer: SearchAnswer): Uint8Array<ArrayBuffer> {
  return answer.json ?? new TextEncoder().encode(JSON.stringify(answer.results));
}
