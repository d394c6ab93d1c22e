const SPACE = /[\t\n\f\r ]/;

/**
 * The URLs of a `srcset` or `imagesrcset`, in their order (HTML standard, "parse a srcset attribute"): an URL ends at white
 * space and may hold commas, but not at its end. What the descriptors say is not judged.
 */
export function srcsetUrls(srcset: string): string[] {
  const urls: string[] = [];
  for (let at = 0; ; ) {
    while (at < srcset.length && (srcset[at] === ',' || isSpace(srcset, at))) at++;
    if (at === srcset.length) return urls;
    const start = at;
    while (at < srcset.length && !isSpace(srcset, at)) at++;
    let end = at;
    while (srcset[end - 1] === ',') end--;
    urls.push(srcset.slice(start, end));
    if (end === at) at = endOfDescriptors(srcset, at);
  }
}

const isSpace = (text: string, at: number): boolean => SPACE.test(text[at] ?? '');

/** Where the comma behind an URL's descriptors is: one in parentheses belongs to them. */
function endOfDescriptors(srcset: string, start: number): number {
  let depth = 0;
  for (let at = start; at < srcset.length; at++) {
    const character = srcset[at];
    if (character === '(') depth++;
    else if (character === ')') depth--;
    else if (character === ',' && depth <= 0) return at;
  }
  return srcset.length;
}
