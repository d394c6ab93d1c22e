/** Builds the table for each page: a name costs 8 µs, and most sites have one language. @param shownIn BCP 47 */
export function languageNames(shownIn: string): (tag: string) => string {
  const names = new Intl.DisplayNames(shownIn, { type: 'language' });
  const known = new Map<string, string>();
  return (tag) => {
    const name = known.get(tag) ?? nameOf(tag, names);
    known.set(tag, name);
    return name;
  };
}

/** Extensions and private use (`de-x-house`) have no names, and `of` throws for them. */
function nameOf(tag: string, names: Intl.DisplayNames): string {
  try {
    return names.of(new Intl.Locale(tag).baseName) ?? tag;
  } catch {
    return tag;
  }
}
