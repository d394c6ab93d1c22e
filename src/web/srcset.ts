import { srcsetSpans } from './rewrite/markup/lists.ts';

/** The URLs of a `srcset` or `imagesrcset`, in their order. */
export function srcsetUrls(srcset: string): string[] {
  return srcsetSpans(srcset).map((span) => srcset.slice(...span));
}
